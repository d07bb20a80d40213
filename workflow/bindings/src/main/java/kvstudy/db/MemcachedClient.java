package kvstudy.db;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import net.spy.memcached.ConnectionFactoryBuilder.Protocol;
import site.ycsb.ByteIterator;
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
public class MemcachedClient extends StoreClient<MemcachedCommands> {
  private InetSocketAddress server;
  private boolean spymemcached;
  private Protocol protocol;
  private int timeout;
  private int expiration;

  @Override
  String configure(Properties p) throws DBException {
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
    ordered = false;
    return "memcached " + server.getHostString() + ":" + server.getPort();
  }

  @Override
  MemcachedCommands connect() throws IOException {
    return spymemcached
        ? new SpymemcachedConnection(server, timeout, protocol)
        : new MemcachedConnection(server, timeout);
  }

  @Override
  void greet(MemcachedCommands memcached) throws IOException {
    memcached.version();
  }

  @Override
  void close(MemcachedCommands memcached) {
    memcached.close();
  }

  @Override
  String remedy() {
    return "start the server, or set memcached.hosts";
  }

  /** The rest of an answer may still arrive, unless it said no. */
  @Override
  boolean isLost(Exception e) {
    return !(e instanceof MemcachedCommands.Refused);
  }

  @Override
  Status read(
      MemcachedCommands memcached,
      String table,
      String key,
      Set<String> fields,
      Map<String, ByteIterator> result)
      throws Exception {
    byte[] record = memcached.get(qualified(table, key));
    if (record == null) {
      return Status.NOT_FOUND;
    }
    JsonRecord.decode(record, fields, result);
    return Status.OK;
  }

  @Override
  Status insert(
      MemcachedCommands memcached, String table, String key, Map<String, ByteIterator> values)
      throws Exception {
    byte[] record = JsonRecord.encode(values);
    return memcached.add(qualified(table, key), expiration, record)
        ? Status.OK
        : error("insert", "the key exists (was the data loaded before?)");
  }

  @Override
  Status update(
      MemcachedCommands memcached, String table, String key, Map<String, ByteIterator> values)
      throws Exception {
    byte[] record = JsonRecord.encode(values);
    return memcached.replace(qualified(table, key), expiration, record)
        ? Status.OK
        : Status.NOT_FOUND;
  }

  @Override
  Status delete(MemcachedCommands memcached, String table, String key) throws Exception {
    return memcached.delete(qualified(table, key)) ? Status.OK : Status.NOT_FOUND;
  }

  private static String qualified(String table, String key) {
    return table + "-" + key;
  }
}
