package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/** What holds on both bucket types. */
abstract class RiakContract extends StoreContract {
  final String type;

  RiakContract(String type) {
    super("riak");
    this.type = type;
  }

  @Override
  DB client(int at) {
    DB client = super.client(at);
    client.getProperties().setProperty("riak.bucket_type", type);
    return client;
  }

  /** As shipped, an object has at most 50 MB with what Riak adds to it. */
  @Override
  int largest() {
    return (50 << 20) - 1000;
  }

  @Override
  List<Integer> tooLarge() {
    return List.of(60 << 20);
  }

  @Override
  void bePatient() throws DBException {
    db.cleanup();
    db = client(port);
    db.getProperties().setProperty("riak.timeout", "30000");
    db.init();
  }

  @Override
  String refused() {
    return "TOO_LARGE";
  }

  final RiakConnection raw() throws IOException {
    return new RiakConnection(new InetSocketAddress("127.0.0.1", port), 2000);
  }

  /** Each operation is several of Riak's, on a disk, and the leader of a strong one is slow. */
  @Override
  int recordsOfEachThread() {
    return 200;
  }

  @Test
  void updateReplacesTheRecordByTheGivenFields() {
    db.insert(TABLE, key, record("field0", "1", "field1", "2"));
    assertEquals(Status.OK, db.update(TABLE, key, record("field1", "9")));
    assertEquals(Map.of("field1", "9"), read(key, null));
  }

  @Test
  void updateOfAMissingRecordIsNotFound() {
    assertEquals(Status.NOT_FOUND, db.update(TABLE, key, record("field0", "1")));
    assertEquals(Status.NOT_FOUND, read(key, null));
  }

  @Test
  void theLayoutIsThatOfYcsbsBinding() throws IOException {
    db.insert(TABLE, key, record("field0", "one"));
    try (RiakConnection riak = raw()) {
      RiakConnection.Fetched fetched = riak.get(type, TABLE, key, 1, false);
      assertArrayEquals("\0\0\0\6field0\0\0\0\3one".getBytes(), fetched.value());
      assertNotNull(fetched.version());
    }
  }

  @Test
  void aForeignValueIsAnError() throws IOException {
    try (RiakConnection riak = raw()) {
      riak.put(type, TABLE, key, "no record".getBytes(), null, 1);
    }
    assertEquals(Status.ERROR, read(key, null));
    assertEquals(Status.OK, db.delete(TABLE, key));
    assertEquals(Status.NOT_FOUND, read(key, null));
  }

  /** How often each status came of 4 threads that update one record as often as they can. */
  final Map<Status, Integer> contend(int times) throws Exception {
    db.insert(TABLE, key, record("field0", "1"));
    ExecutorService pool = Executors.newFixedThreadPool(4);
    CyclicBarrier together = new CyclicBarrier(4);
    Map<Status, Integer> statuses = new HashMap<>();
    Callable<Map<Status, Integer>> updates =
        () -> {
          DB client = connected(port);
          Map<Status, Integer> counts = new HashMap<>();
          for (int i = 0; i < times; i++) {
            together.await();
            counts.merge(client.update(TABLE, key, record("field0", "x")), 1, Integer::sum);
          }
          client.cleanup();
          return counts;
        };
    Map<Integer, Future<Map<Status, Integer>>> threads = new HashMap<>();
    for (int t = 0; t < 4; t++) {
      threads.put(t, pool.submit(updates));
    }
    for (Future<Map<Status, Integer>> thread : threads.values()) {
      thread.get().forEach((status, count) -> statuses.merge(status, count, Integer::sum));
    }
    pool.shutdown();
    return statuses;
  }

  /** The properties that the binding is started with are checked against the type. */
  final DBException initFails(String name, String value) {
    DB client = client(port);
    client.getProperties().setProperty(name, value);
    return assertThrows(DBException.class, client::init);
  }
}
