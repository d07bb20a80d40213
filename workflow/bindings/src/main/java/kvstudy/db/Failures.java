package kvstudy.db;

import java.util.HashSet;
import java.util.Set;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * Turns exceptions of one client thread into YCSB statuses.
 *
 * <p>Each kind of failure is printed once, on one line of stderr: a server that dies in a run of a
 * million operations must not leave a million stack traces in the log.
 */
final class Failures {
  private final String server;
  private final Set<String> seen = new HashSet<>();

  /**
   * @param server how the message names the server, such as {@code redis 127.0.0.1:6379}
   */
  Failures(String server) {
    this.server = server;
  }

  /** Reports the first failure of its kind and returns {@link Status#ERROR}. */
  Status error(String operation, Exception e) {
    // By class: messages may hold keys or values, and would make each failure a kind of its own.
    return error(operation, e.getClass().getName(), summary(e));
  }

  /** Reports the first failure of its kind and returns {@link Status#ERROR}. */
  Status error(String operation, String reason) {
    return error(operation, reason, reason);
  }

  private Status error(String operation, String kind, String reason) {
    if (seen.add(operation + kind)) {
      System.err.printf(
          "%s: %s failed in %s: %s (further failures of this kind are only counted)%n",
          server, operation, Thread.currentThread().getName(), reason);
    }
    return Status.ERROR;
  }

  /** What init() throws when the server does not answer; {@code remedy} follows a colon. */
  DBException unreachable(Exception e, String remedy) {
    return new DBException(
        String.format("%s does not answer (%s): %s", server, summary(e), remedy), e);
  }

  /** The exception and its root cause on one line. */
  static String summary(Throwable e) {
    Throwable root = e;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    String text = text(e);
    if (root != e) {
      text += ", caused by " + text(root);
    }
    return text.replaceAll("\\s+", " ");
  }

  private static String text(Throwable e) {
    String name = e.getClass().getSimpleName();
    return e.getMessage() == null ? name : name + ": " + e.getMessage();
  }
}
