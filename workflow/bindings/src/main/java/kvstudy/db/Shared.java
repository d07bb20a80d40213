package kvstudy.db;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import site.ycsb.DBException;

/**
 * What all client threads with equal settings share, such as a driver's session.
 *
 * @param <S> the settings
 * @param <T> what is made of them
 */
final class Shared<S, T extends AutoCloseable> {
  private final Function<S, T> maker;
  private final Map<S, T> made = new HashMap<>();
  private final Map<S, Integer> users = new HashMap<>();

  Shared(Function<S, T> maker) {
    this.maker = maker;
  }

  /** The one for these settings; every call needs a {@link #release}. */
  synchronized T take(S settings) {
    T one = made.computeIfAbsent(settings, maker);
    users.merge(settings, 1, Integer::sum);
    return one;
  }

  /** The last user closes it. */
  synchronized void release(S settings) throws DBException {
    if (users.merge(settings, -1, (before, one) -> before == 1 ? null : before + one) == null) {
      try {
        made.remove(settings).close();
      } catch (Exception e) {
        throw new DBException(e);
      }
    }
  }
}
