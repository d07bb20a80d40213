package kvstudy.db;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * The frame of a binding: a connection for each client thread, opened when an operation needs it,
 * and again after it was lost.
 *
 * <p>YCSB's operations take the connection, run the binding's method of the same name, and turn its
 * failure into a status.
 *
 * <p>YCSB makes an object for each client thread, and calls it on that thread alone.
 *
 * @param <C> what operations are sent through
 */
abstract class StoreClient<C> extends DB {
  /** Whether keys have an order. Set it in {@link #configure}: without one there are no scans. */
  boolean ordered = true;

  private Failures failures;

  /** Null before the first operation, and after it was lost. */
  private C connection;

  /** Reads the properties; returns the server's name, such as {@code redis 127.0.0.1:6379}. */
  abstract String configure(Properties p) throws DBException;

  /** A new connection; fails within the time-outs when the server does not answer. */
  abstract C connect() throws Exception;

  abstract void close(C old) throws Exception;

  /** Asks the server for something before the first operation. */
  void greet(C fresh) throws Exception {}

  /** What to do about a server that does not answer. */
  abstract String remedy();

  /** Whether the connection can take a further operation, as far as is known without one. */
  boolean isOpen(C last) {
    return true;
  }

  /** Whether the failure leaves a connection whose answers are out of step, or none. */
  boolean isLost(Exception e) {
    return true;
  }

  /** The status of an operation that failed. */
  Status failed(String operation, Exception e) {
    return failures.error(operation, e);
  }

  /** Reports the first failure for this reason. */
  final Status error(String operation, String reason) {
    return failures.error(operation, reason);
  }

  @Override
  public final void init() throws DBException {
    failures = new Failures(configure(getProperties()));
    try {
      greet(connection());
    } catch (DBException e) {
      cleanup();
      throw e;
    } catch (Exception e) {
      cleanup();
      throw failures.unreachable(e, remedy());
    }
  }

  @Override
  public void cleanup() throws DBException {
    drop();
  }

  abstract Status read(
      C connection, String table, String key, Set<String> fields, Map<String, ByteIterator> result)
      throws Exception;

  abstract Status insert(C connection, String table, String key, Map<String, ByteIterator> values)
      throws Exception;

  abstract Status update(C connection, String table, String key, Map<String, ByteIterator> values)
      throws Exception;

  abstract Status delete(C connection, String table, String key) throws Exception;

  /** Is called only where keys are {@link #ordered}. */
  Status scan(
      C connection,
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result)
      throws Exception {
    return Status.NOT_IMPLEMENTED;
  }

  /** Removes all records, where a binding is {@link Truncatable}. */
  Status empty(C connection, String table) throws Exception {
    return Status.NOT_IMPLEMENTED;
  }

  /** Of {@link Truncatable}. */
  public final Status empty(String table) {
    return attempt("empty", to -> empty(to, table));
  }

  @Override
  public final Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return attempt("read", to -> read(to, table, key, fields, result));
  }

  @Override
  public final Status insert(String table, String key, Map<String, ByteIterator> values) {
    return attempt("insert", to -> insert(to, table, key, values));
  }

  @Override
  public final Status update(String table, String key, Map<String, ByteIterator> values) {
    return attempt("update", to -> update(to, table, key, values));
  }

  @Override
  public final Status delete(String table, String key) {
    return attempt("delete", to -> delete(to, table, key));
  }

  @Override
  public final Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    if (!ordered) {
      return Status.NOT_IMPLEMENTED;
    }
    return attempt("scan", to -> scan(to, table, startkey, recordcount, fields, result));
  }

  private interface Operation<C> {
    Status run(C connection) throws Exception;
  }

  /** Runs the operation; its failure becomes a status. */
  private Status attempt(String name, Operation<C> operation) {
    try {
      return operation.run(connection());
    } catch (Exception e) {
      if (isLost(e)) {
        drop();
      }
      return failed(name, e);
    }
  }

  private C connection() throws Exception {
    if (connection != null && !isOpen(connection)) {
      drop();
    }
    if (connection == null) {
      connection = connect();
    }
    return connection;
  }

  private void drop() {
    C old = connection;
    connection = null;
    if (old != null) {
      try {
        close(old);
      } catch (Exception e) {
        // It was lost before: there is nothing left to close.
      }
    }
  }
}
