package kvstudy.db;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB on etcd, which YCSB has no binding for. A record is the value of its key, see {@link
 * BinaryRecord}; the table's name is not used.
 *
 * <ul>
 *   <li>read: a linearizable range of the key
 *   <li>insert: a put; an existing record is overwritten
 *   <li>update: a range of the key, then a transaction that puts the changed record if its revision
 *       is still the same; both again until it is
 *   <li>delete: a delete of the key
 *   <li>scan: a range from the key on, with a limit
 * </ul>
 *
 * <p>The stubs of jetcd are called, not jetcd: it tries a failed operation again, and hands each to
 * an event loop. The calling thread waits for the answer, on a connection of its own.
 *
 * <p>Properties: {@code etcd.host} (127.0.0.1), {@code etcd.port} (2379), {@code etcd.timeout} (ms
 * for each operation, 2000).
 */
public class EtcdClient extends StoreClient<EtcdClient.Connection> implements Truncatable {
  /** As a key: the first one; as the end of a range: behind the last one. */
  private static final ByteString ALL = ByteString.copyFrom(new byte[] {0});

  private static final int LARGEST_ANSWER = 256 << 20;
  private static final Set<Code> LOST =
      Set.of(Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.CANCELLED, Code.INTERNAL, Code.UNKNOWN);

  /** It would say on standard error which system call it waits with. */
  private static final Logger QUIET = Logger.getLogger("io.grpc");

  static {
    QUIET.setLevel(Level.WARNING);
  }

  private InetSocketAddress server;
  private int timeout;

  /** A channel of one connection, and what is called through it. */
  record Connection(ManagedChannel channel, KVGrpc.KVBlockingStub stub, int timeout) {
    KVGrpc.KVBlockingStub kv() {
      return stub.withDeadlineAfter(timeout, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  String configure(Properties p) throws DBException {
    int port = Options.integer(p, "etcd.port", 2379, 1, 65535);
    timeout = Options.integer(p, "etcd.timeout", 2000, 1, Integer.MAX_VALUE);
    server = InetSocketAddress.createUnresolved(p.getProperty("etcd.host", "127.0.0.1"), port);
    return "etcd " + server.getHostString() + ":" + port;
  }

  @Override
  Connection connect() {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress(server.getHostString(), server.getPort())
            .usePlaintext()
            .disableRetry()
            .maxInboundMessageSize(LARGEST_ANSWER)
            .build();
    return new Connection(channel, KVGrpc.newBlockingStub(channel), timeout);
  }

  @Override
  void greet(Connection fresh) {
    fresh.kv().range(RangeRequest.newBuilder().setKey(ALL).build());
  }

  @Override
  void close(Connection old) throws InterruptedException {
    old.channel().shutdownNow().awaitTermination(timeout, TimeUnit.MILLISECONDS);
  }

  @Override
  String remedy() {
    return "start the server, or set etcd.host and etcd.port";
  }

  @Override
  boolean isLost(Exception e) {
    return e instanceof StatusRuntimeException response
        && LOST.contains(response.getStatus().getCode());
  }

  /** By the code: the class is the same for all. */
  @Override
  Status failed(String operation, Exception e) {
    return e instanceof StatusRuntimeException response
        ? error(operation, response.getStatus().toString().replaceAll("\\s+", " "))
        : super.failed(operation, e);
  }

  @Override
  Status read(
      Connection etcd,
      String table,
      String key,
      Set<String> fields,
      Map<String, ByteIterator> result)
      throws Exception {
    KeyValue entry = get(etcd, ByteString.copyFromUtf8(key));
    if (entry == null) {
      return Status.NOT_FOUND;
    }
    BinaryRecord.decode(entry.getValue().toByteArray(), fields, result);
    return Status.OK;
  }

  @Override
  Status insert(Connection etcd, String table, String key, Map<String, ByteIterator> values)
      throws Exception {
    etcd.kv().put(put(ByteString.copyFromUtf8(key), BinaryRecord.encode(values)));
    return Status.OK;
  }

  @Override
  Status update(Connection etcd, String table, String key, Map<String, ByteIterator> values)
      throws Exception {
    ByteString name = ByteString.copyFromUtf8(key);
    byte[] fields = BinaryRecord.encode(values);
    TxnRequest change;
    do {
      KeyValue entry = get(etcd, name);
      if (entry == null) {
        return Status.NOT_FOUND;
      }
      byte[] record = BinaryRecord.changed(entry.getValue().toByteArray(), fields);
      change = ifUnchanged(entry, put(name, record));
    } while (!etcd.kv().txn(change).getSucceeded());
    return Status.OK;
  }

  @Override
  Status delete(Connection etcd, String table, String key) throws Exception {
    DeleteRangeRequest delete =
        DeleteRangeRequest.newBuilder().setKey(ByteString.copyFromUtf8(key)).build();
    return etcd.kv().deleteRange(delete).getDeleted() == 0 ? Status.NOT_FOUND : Status.OK;
  }

  @Override
  Status scan(
      Connection etcd,
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result)
      throws Exception {
    RangeRequest range =
        RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8(startkey))
            .setRangeEnd(ALL)
            .setLimit(recordcount)
            .build();
    for (KeyValue entry : etcd.kv().range(range).getKvsList()) {
      HashMap<String, ByteIterator> record = new HashMap<>();
      BinaryRecord.decode(entry.getValue().toByteArray(), fields, record);
      result.add(record);
    }
    return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
  }

  @Override
  Status empty(Connection etcd, String table) throws Exception {
    DeleteRangeRequest all = DeleteRangeRequest.newBuilder().setKey(ALL).setRangeEnd(ALL).build();
    etcd.kv().deleteRange(all);
    return Status.OK;
  }

  /** Null without such a key. */
  private static KeyValue get(Connection etcd, ByteString key) {
    RangeResponse response = etcd.kv().range(RangeRequest.newBuilder().setKey(key).build());
    List<KeyValue> entries = response.getKvsList();
    return entries.isEmpty() ? null : entries.get(0);
  }

  private static PutRequest put(ByteString key, byte[] record) {
    ByteString value = UnsafeByteOperations.unsafeWrap(record);
    return PutRequest.newBuilder().setKey(key).setValue(value).build();
  }

  private static TxnRequest ifUnchanged(KeyValue entry, PutRequest put) {
    Compare same =
        Compare.newBuilder()
            .setKey(entry.getKey())
            .setTarget(Compare.CompareTarget.MOD)
            .setResult(Compare.CompareResult.EQUAL)
            .setModRevision(entry.getModRevision())
            .build();
    return TxnRequest.newBuilder()
        .addCompare(same)
        .addSuccess(RequestOp.newBuilder().setRequestPut(put))
        .build();
  }
}
