package kvstudy.db;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import net.spy.memcached.ConnectionFactoryBuilder.Protocol;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB on Memcached, with the record layout of YCSB's own binding.
 *
 * <p>A record is one JSON object (field to string) under the key {@code table-key}.
 *
 * <ul>
 *   <li>read: get; fields are selected in the client
 *   <li>insert: add; an existing key is an ERROR
 *   <li>update: replace with <em>only the given fields</em>: the others are gone, as in YCSB's
 *       binding. Records that were updated are therefore smaller than those that were not.
 *   <li>delete: delete
 *   <li>scan: NOT_IMPLEMENTED, Memcached has no order of keys
 * </ul>
 *
 * <p>Different from YCSB's binding: a missing record is NOT_FOUND (YCSB's read says OK), any bytes
 * survive, a lost connection is an ERROR and the next operation connects again.
 *
 * <p>Properties: {@code memcached.hosts} (one {@code host:port}, 127.0.0.1:11211), {@code
 * memcached.client} (direct: a blocking socket; spymemcached: the library of YCSB's binding; either
 * way one connection for each client thread; direct), {@code memcached.protocol} (of spymemcached:
 * text or binary; text), {@code memcached.opTimeoutMillis} (ms for connecting and for each answer,
 * 2500; with spymemcached 60000, as in YCSB's binding), {@code memcached.objectExpirationTime} (as
 * in YCSB's binding 2147483647, which Memcached reads as a date in 2038).
 */
public class MemcachedClient extends DB {
  private InetSocketAddress server;
  private boolean spymemcached;
  private Protocol protocol;
  private int timeout;
  private int expiration;
  private Failures failures;

  /** One connection for each client thread; null after it was lost. */
  private MemcachedCommands connection;

  @Override
  public void init() throws DBException {
    Properties p = getProperties();
    server = Options.address(p, "memcached.hosts", "127.0.0.1", 11211);
    spymemcached =
        Options.choice(p, "memcached.client", "direct", "spymemcached").equals("spymemcached");
    protocol =
        Options.choice(p, "memcached.protocol", "text", "binary").equals("binary")
            ? Protocol.BINARY
            : Protocol.TEXT;
    int patience = spymemcached ? 60_000 : 2500;
    timeout = Options.integer(p, "memcached.opTimeoutMillis", patience, 1, Integer.MAX_VALUE);
    expiration =
        Options.integer(
            p, "memcached.objectExpirationTime", Integer.MAX_VALUE, 0, Integer.MAX_VALUE);
    String name = "memcached " + server.getHostString() + ":" + server.getPort();
    failures = new Failures(name);
    try {
      connection().version();
    } catch (IOException | RuntimeException e) {
      cleanup();
      throw failures.unreachable(e, "start the server, or set memcached.hosts");
    }
  }

  @Override
  public void cleanup() {
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return attempt(
        "read",
        memcached -> {
          byte[] record = memcached.get(qualified(table, key));
          if (record == null) {
            return Status.NOT_FOUND;
          }
          JsonRecord.decode(record, fields, result);
          return Status.OK;
        });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    byte[] record = JsonRecord.encode(values);
    return attempt(
        "insert",
        memcached ->
            memcached.add(qualified(table, key), expiration, record)
                ? Status.OK
                : failures.error("insert", "the key exists (was the data loaded before?)"));
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    byte[] record = JsonRecord.encode(values);
    return attempt(
        "update",
        memcached ->
            memcached.replace(qualified(table, key), expiration, record)
                ? Status.OK
                : Status.NOT_FOUND);
  }

  @Override
  public Status delete(String table, String key) {
    return attempt(
        "delete",
        memcached -> memcached.delete(qualified(table, key)) ? Status.OK : Status.NOT_FOUND);
  }

  @Override
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }

  private static String qualified(String table, String key) {
    return table + "-" + key;
  }

  private interface Operation {
    Status run(MemcachedCommands memcached) throws IOException;
  }

  private Status attempt(String name, Operation operation) {
    try {
      return operation.run(connection());
    } catch (MemcachedCommands.Refused e) {
      return failures.error(name, e);
    } catch (IOException | RuntimeException e) {
      // The rest of an answer may still arrive: only a new connection is in step again.
      cleanup();
      return failures.error(name, e);
    }
  }

  private MemcachedCommands connection() throws IOException {
    if (connection == null) {
      connection =
          spymemcached
              ? new SpymemcachedConnection(server, timeout, protocol)
              : new MemcachedConnection(server, timeout);
    }
    return connection;
  }
}
