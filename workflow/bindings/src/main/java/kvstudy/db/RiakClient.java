package kvstudy.db;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB on Riak KV, with the record layout of YCSB's own binding, on bucket types with eventual or
 * with strong consistency.
 *
 * <p>A record is one value under its key; the table is the bucket.
 *
 * <ul>
 *   <li>read: get; fields are selected in the client
 *   <li>insert: put without a version. Eventual: an existing record is overwritten. Strong: it
 *       fails.
 *   <li>update: <em>only the given fields</em> are stored, the others are gone, as in YCSB's
 *       binding. {@code fetch_put} gets the record first and puts with its version; a missing
 *       record is NOT_FOUND. {@code put} does not look first; a missing record is created. YCSB's
 *       binding does the first on a strong, the second on an eventual type, so that its comparison
 *       of the two compares different operations; here both do the same unless told otherwise. A
 *       strong type refuses to put on an existing key without its version.
 *   <li>delete: get of the version, delete
 *   <li>scan: NOT_IMPLEMENTED; the backend that Riak is shipped with, Bitcask, has no order of keys
 *       and no secondary indexes
 * </ul>
 *
 * <p>What the server refuses is no ERROR but a status of the server's own word: FAILED (strong: the
 * record has another version by now, or exists), TIMEOUT, UNAVAILABLE, and so on.
 *
 * <p>Different from YCSB's binding: a value has no entry in a secondary index (there the eventual
 * one has, the strong one has not); a read that finds nothing is not repeated; a lost connection is
 * an ERROR and the next operation connects again.
 *
 * <p>Properties: {@code riak.hosts} (one host, 127.0.0.1), {@code riak.port} (8087), {@code
 * riak.bucket_type} (ycsb), {@code riak.update} (fetch_put or put; fetch_put), {@code riak.r_val}
 * and {@code riak.w_val} (copies that must answer, 2; never more than the bucket type's n_val; a
 * strong type does not use them), {@code riak.timeout} (ms for connecting and for each answer,
 * 10000).
 */
public class RiakClient extends StoreClient<RiakConnection> {
  private static final Pattern WORDS = Pattern.compile("[A-Za-z](?:[A-Za-z_ ]{0,38}[A-Za-z])?");

  private InetSocketAddress server;
  private int timeout;
  private String bucketType;
  private boolean fetchBeforePut;
  private int readers;
  private int writers;

  @Override
  String configure(Properties p) throws DBException {
    int port = Options.integer(p, "riak.port", 8087, 1, 65535);
    server = Options.address(p, "riak.hosts", "127.0.0.1", port);
    timeout = Options.integer(p, "riak.timeout", 10_000, 1, Integer.MAX_VALUE);
    bucketType = p.getProperty("riak.bucket_type", "ycsb");
    fetchBeforePut = Options.choice(p, "riak.update", "fetch_put", "put").equals("fetch_put");
    readers = Options.integer(p, "riak.r_val", 2, 1, Integer.MAX_VALUE);
    writers = Options.integer(p, "riak.w_val", 2, 1, Integer.MAX_VALUE);
    ordered = false;
    return "riak " + server.getHostString() + ":" + server.getPort();
  }

  @Override
  RiakConnection connect() throws IOException {
    return new RiakConnection(server, timeout);
  }

  @Override
  void greet(RiakConnection riak) throws IOException, DBException {
    RiakConnection.BucketType type;
    try {
      type = riak.bucketType(bucketType);
    } catch (RiakConnection.Refused e) {
      throw new DBException(
          "riak.bucket_type="
              + bucketType
              + ": the server says '"
              + e.getMessage()
              + "'; create and activate it (riak admin bucket-type), or name another one",
          e);
    }
    readers = Math.min(readers, type.copies());
    writers = Math.min(writers, type.copies());
    if (type.consistent() && !fetchBeforePut) {
      throw new DBException(
          "riak.update=put: "
              + bucketType
              + " is a bucket type with strong consistency, which refuses to put on an existing"
              + " key without its version; set riak.update=fetch_put");
    }
  }

  @Override
  void close(RiakConnection riak) throws IOException {
    riak.close();
  }

  @Override
  String remedy() {
    return "start the server, or set riak.hosts and riak.port";
  }

  /** The rest of an answer may still arrive, unless it said no. */
  @Override
  boolean isLost(Exception e) {
    return !(e instanceof RiakConnection.Refused);
  }

  @Override
  Status failed(String operation, Exception e) {
    if (!(e instanceof RiakConnection.Refused)) {
      return super.failed(operation, e);
    }
    error(operation, e.getMessage());
    return refusal(e.getMessage());
  }

  @Override
  Status read(
      RiakConnection riak,
      String table,
      String key,
      Set<String> fields,
      Map<String, ByteIterator> result)
      throws Exception {
    RiakConnection.Fetched fetched = riak.get(bucketType, table, key, readers, false);
    if (fetched == null) {
      return Status.NOT_FOUND;
    }
    BinaryRecord.decode(fetched.value(), fields, result);
    return Status.OK;
  }

  @Override
  Status insert(RiakConnection riak, String table, String key, Map<String, ByteIterator> values)
      throws Exception {
    byte[] record = BinaryRecord.encode(values);
    riak.put(bucketType, table, key, record, null, writers);
    return Status.OK;
  }

  @Override
  Status update(RiakConnection riak, String table, String key, Map<String, ByteIterator> values)
      throws Exception {
    byte[] record = BinaryRecord.encode(values);
    byte[] version = null;
    if (fetchBeforePut) {
      RiakConnection.Fetched fetched = riak.get(bucketType, table, key, readers, false);
      if (fetched == null) {
        return Status.NOT_FOUND;
      }
      version = fetched.version();
    }
    riak.put(bucketType, table, key, record, version, writers);
    return Status.OK;
  }

  @Override
  Status delete(RiakConnection riak, String table, String key) throws Exception {
    RiakConnection.Fetched fetched = riak.get(bucketType, table, key, readers, true);
    if (fetched == null) {
      return Status.NOT_FOUND;
    }
    riak.delete(bucketType, table, key, fetched.version());
    return Status.OK;
  }

  /** The server's words, without the values in them, as the name of a status. */
  static Status refusal(String reason) {
    Matcher words = WORDS.matcher(reason);
    String name = words.find() ? words.group().replace(' ', '_').toUpperCase(Locale.ROOT) : "";
    return name.isEmpty() || name.equals("OK") ? Status.ERROR : new Status(name, reason);
  }
}
