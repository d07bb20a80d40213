package kvstudy.db;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import site.ycsb.DBException;

/**
 * Resources that client threads with equal settings share, such as a driver's session.
 *
 * @param <S> the settings
 * @param <T> the resource
 */
final class RefCounted<S, T extends AutoCloseable> {
  private final Function<S, T> maker;
  private final Map<S, T> resources = new HashMap<>();
  private final Map<S, Integer> users = new HashMap<>();

  RefCounted(Function<S, T> maker) {
    this.maker = maker;
  }

  /** Returns the resource for these settings; every call needs a {@link #release}. */
  synchronized T take(S settings) {
    T resource = resources.computeIfAbsent(settings, maker);
    users.merge(settings, 1, Integer::sum);
    return resource;
  }

  /** Releases the resource; the last user closes it. */
  synchronized void release(S settings) throws DBException {
    if (users.merge(settings, -1, (count, change) -> count == 1 ? null : count + change) == null) {
      try {
        resources.remove(settings).close();
      } catch (Exception e) {
        throw new DBException(e);
      }
    }
  }
}
