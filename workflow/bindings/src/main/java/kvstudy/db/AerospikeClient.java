package kvstudy.db;

import com.aerospike.client.AerospikeException;
import com.aerospike.client.Bin;
import com.aerospike.client.Host;
import com.aerospike.client.IAerospikeClient;
import com.aerospike.client.Key;
import com.aerospike.client.Record;
import com.aerospike.client.ResultCode;
import com.aerospike.client.policy.ClientPolicy;
import com.aerospike.client.policy.Policy;
import com.aerospike.client.policy.RecordExistsAction;
import com.aerospike.client.policy.WritePolicy;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB on Aerospike, with the record layout of YCSB's own binding.
 *
 * <p>A record is one record of the set named like the table: each field is a bin with bytes. The
 * server holds a hash of the key, not the key.
 *
 * <ul>
 *   <li>read: get, of the named bins when fields are named
 *   <li>insert: put with CREATE_ONLY; an existing key is an ERROR
 *   <li>update: put with REPLACE_ONLY of <em>only the given fields</em>: the others are gone, as in
 *       YCSB's binding. Records that were updated are therefore smaller than those that were not.
 *   <li>delete: delete
 *   <li>scan: NOT_IMPLEMENTED, Aerospike has no order of keys
 * </ul>
 *
 * <p>Different from YCSB's binding: a missing record is NOT_FOUND (YCSB's says ERROR), scan is
 * NOT_IMPLEMENTED (YCSB's says ERROR), the driver does not repeat a failed operation by itself
 * (YCSB's repeats it up to two times), and a lost server is found again by the first operation
 * after its return.
 *
 * <p>Properties: {@code as.host} (localhost), {@code as.port} (3000), {@code as.namespace} (ycsb),
 * {@code as.timeout} (ms for connecting and for each operation, 10000), {@code as.user}, {@code
 * as.password}.
 */
public class AerospikeClient extends StoreClient<IAerospikeClient> {
  private final ClientPolicy connecting = new ClientPolicy();
  private final Policy reading = new Policy();
  private final WritePolicy inserting = new WritePolicy();
  private final WritePolicy updating = new WritePolicy();
  private final WritePolicy deleting = new WritePolicy();
  private Host server;
  private String namespace;

  @Override
  String configure(Properties p) throws DBException {
    int port = Options.integer(p, "as.port", 3000, 1, 65535);
    int timeout = Options.integer(p, "as.timeout", 10_000, 1, Integer.MAX_VALUE);
    server = new Host(p.getProperty("as.host", "localhost"), port);
    namespace = p.getProperty("as.namespace", "ycsb");
    connecting.user = p.getProperty("as.user");
    connecting.password = p.getProperty("as.password");
    connecting.timeout = timeout;
    // As shipped, more than 100 failures in a second make the driver refuse operations by itself.
    connecting.maxErrorRate = 0;
    for (Policy policy : new Policy[] {reading, inserting, updating, deleting}) {
      policy.setTimeout(timeout);
      // An operation that was repeated would hide its failure in its latency.
      policy.maxRetries = 0;
    }
    inserting.recordExistsAction = RecordExistsAction.CREATE_ONLY;
    updating.recordExistsAction = RecordExistsAction.REPLACE_ONLY;
    ordered = false;
    return "aerospike " + server.name + ":" + server.port;
  }

  /** With one connection for the thread's operations. */
  @Override
  IAerospikeClient connect() {
    return new com.aerospike.client.AerospikeClient(connecting, server);
  }

  @Override
  void close(IAerospikeClient aerospike) {
    aerospike.close();
  }

  @Override
  String remedy() {
    return "start the server, or set as.host and as.port";
  }

  /** False when the driver has given up the server: it would look for it only once a second. */
  @Override
  boolean isOpen(IAerospikeClient aerospike) {
    return aerospike.getNodes().length > 0;
  }

  @Override
  boolean isLost(Exception e) {
    return false;
  }

  @Override
  Status read(
      IAerospikeClient aerospike,
      String table,
      String key,
      Set<String> fields,
      Map<String, ByteIterator> result) {
    Key id = new Key(namespace, table, key);
    Record record =
        fields == null || fields.isEmpty()
            ? aerospike.get(reading, id)
            : aerospike.get(reading, id, fields.toArray(new String[0]));
    if (record == null) {
      return Status.NOT_FOUND;
    }
    return fill(result, record);
  }

  private Status fill(Map<String, ByteIterator> result, Record record) {
    // The driver has no map for a record without any of the named bins.
    Map<String, Object> bins = record.bins == null ? Map.of() : record.bins;
    for (Object value : bins.values()) {
      if (!(value instanceof byte[])) {
        return error("read", "a bin does not hold bytes (who wrote the record?)");
      }
    }
    bins.forEach((name, value) -> result.put(name, new ByteArrayByteIterator((byte[]) value)));
    return Status.OK;
  }

  @Override
  Status insert(
      IAerospikeClient aerospike, String table, String key, Map<String, ByteIterator> values) {
    return put(aerospike, inserting, table, key, values);
  }

  @Override
  Status update(
      IAerospikeClient aerospike, String table, String key, Map<String, ByteIterator> values) {
    return put(aerospike, updating, table, key, values);
  }

  private Status put(
      IAerospikeClient aerospike,
      WritePolicy policy,
      String table,
      String key,
      Map<String, ByteIterator> values) {
    Bin[] bins = new Bin[values.size()];
    int next = 0;
    for (Map.Entry<String, ByteIterator> field : values.entrySet()) {
      bins[next++] = new Bin(field.getKey(), field.getValue().toArray());
    }
    aerospike.put(policy, new Key(namespace, table, key), bins);
    return Status.OK;
  }

  @Override
  Status delete(IAerospikeClient aerospike, String table, String key) {
    return aerospike.delete(deleting, new Key(namespace, table, key))
        ? Status.OK
        : Status.NOT_FOUND;
  }

  @Override
  Status failed(String operation, Exception e) {
    if (!(e instanceof AerospikeException)) {
      return super.failed(operation, e);
    }
    int code = ((AerospikeException) e).getResultCode();
    if (code == ResultCode.KEY_NOT_FOUND_ERROR) {
      return Status.NOT_FOUND;
    }
    if (code == ResultCode.KEY_EXISTS_ERROR) {
      return error(operation, "the key exists (was the data loaded before?)");
    }
    // The server refuses for many reasons with one class; failures of the network have their own.
    boolean refused = e.getClass() == AerospikeException.class && code > 0;
    return refused
        ? error(operation, ResultCode.getResultString(code))
        : super.failed(operation, e);
  }
}
