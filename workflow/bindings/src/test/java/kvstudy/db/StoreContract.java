package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * What every binding has to do, against a real server that the tests may fill and leave dirty.
 *
 * <p>The fields are named as YCSB names them: a store with columns has no others.
 *
 * <p>The system property named like the store says where it listens: {@code
 * -Dredis=127.0.0.1:7000}.
 */
@Tag("contract")
abstract class StoreContract {
  static final String TABLE = "usertable";

  final String store;
  final int port;
  final String key = "user" + UUID.randomUUID();
  DB db;

  StoreContract(String store) {
    this.store = store;
    String address = System.getProperty(store, "");
    assertTrue(
        address.matches("127\\.0\\.0\\.1:\\d+"),
        "give a test server: -D" + store + "=127.0.0.1:<port>");
    port = Integer.parseInt(address.substring(address.indexOf(':') + 1));
  }

  @BeforeEach
  void connect() throws DBException {
    db = connected(port);
  }

  @AfterEach
  void disconnect() throws DBException {
    db.cleanup();
  }

  final DB connected(int at) throws DBException {
    DB client = client(at);
    client.init();
    return client;
  }

  /** A client of the store, not connected yet. */
  DB client(int at) {
    return Clients.create(store, at, 1000);
  }

  static Map<String, ByteIterator> record(String... namesAndValues) {
    Map<String, ByteIterator> record = new HashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      record.put(namesAndValues[i], bytes(namesAndValues[i + 1].getBytes()));
    }
    return record;
  }

  static ByteIterator bytes(byte[] value) {
    return new ByteArrayByteIterator(value);
  }

  /** The record as text, or the status if it is not OK. */
  final Object read(String of, Set<String> fields) {
    Map<String, ByteIterator> result = new HashMap<>();
    Status status = db.read(TABLE, of, fields, result);
    if (!status.isOk()) {
      assertTrue(result.isEmpty(), "a failed read must not return fields");
      return status;
    }
    Map<String, String> text = new HashMap<>();
    result.forEach((name, value) -> text.put(name, value.toString()));
    return text;
  }

  @Test
  void insertThenReadAllOrSomeFields() {
    assertEquals(
        Status.OK, db.insert(TABLE, key, record("field0", "1", "field1", "2", "field2", "3")));
    assertEquals(Map.of("field0", "1", "field1", "2", "field2", "3"), read(key, null));
    assertEquals(Map.of("field0", "1", "field1", "2", "field2", "3"), read(key, Set.of()));
    assertEquals(Map.of("field0", "1", "field2", "3"), read(key, Set.of("field0", "field2")));
  }

  @Test
  void deleteRemovesTheRecord() {
    db.insert(TABLE, key, record("field0", "1"));
    assertEquals(Status.OK, db.delete(TABLE, key));
    assertEquals(Status.NOT_FOUND, read(key, null));
    assertEquals(deleteOfAMissingKey(), db.delete(TABLE, key));
    assertEquals(Status.OK, db.insert(TABLE, key, record("field0", "2")));
    assertEquals(Map.of("field0", "2"), read(key, null));
  }

  @Test
  void aClientThatCanEmptyLeavesNothing() {
    if (db instanceof Emptying emptying) {
      db.insert(TABLE, key, record("field0", "1"));
      assertEquals(Status.OK, emptying.empty(TABLE));
      assertEquals(Status.NOT_FOUND, read(key, null));
      assertEquals(Status.OK, db.insert(TABLE, key, record("field0", "1")));
    }
  }

  /** What a store answers that is asked to delete what it does not hold. */
  Status deleteOfAMissingKey() {
    return Status.NOT_FOUND;
  }

  @Test
  void aMissIsNotFound() {
    assertEquals(Status.NOT_FOUND, read(key, null));
    assertEquals(Status.NOT_FOUND, read(key, Set.of("field0")));
    assertEquals(deleteOfAMissingKey(), db.delete(TABLE, key));
  }

  @Test
  void anyBytesSurvive() {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    byte[] framing = "\r\nEND\r\n$3\r\n\"}\\".getBytes();
    Map<String, ByteIterator> record = new HashMap<>();
    record.put("field0", bytes(all));
    record.put("field1", bytes(framing));
    record.put("field2", bytes(new byte[0]));
    assertEquals(Status.OK, db.insert(TABLE, key, record));
    assertFields(Map.of("field0", all, "field1", framing, "field2", new byte[0]));
    record.put("field0", bytes(new byte[0]));
    record.put("field1", bytes(all));
    record.put("field2", bytes(framing));
    assertEquals(Status.OK, db.update(TABLE, key, record));
    assertFields(Map.of("field0", new byte[0], "field1", all, "field2", framing));
  }

  private void assertFields(Map<String, byte[]> expected) {
    Map<String, ByteIterator> result = new HashMap<>();
    assertEquals(Status.OK, db.read(TABLE, key, null, result));
    assertEquals(expected.keySet(), result.keySet());
    expected.forEach((name, value) -> assertArrayEquals(value, result.get(name).toArray(), name));
  }

  /** Bytes of the largest value of {@code field0} that the store has to hold under {@link #key}. */
  abstract int largest();

  /** Sizes that the store has to refuse: just over its limit, and over others that it has. */
  abstract List<Integer> tooLarge();

  /** What the binding says of such a value, by the status's name. */
  String refused() {
    return Status.ERROR.getName();
  }

  private static byte[] filled(int size, char with) {
    byte[] value = new byte[size];
    Arrays.fill(value, (byte) with);
    return value;
  }

  /** Lets {@link #db} wait longer, where the largest values need that. */
  void bePatient() throws DBException {}

  @Test
  void aValueAtTheLimitSurvives() throws DBException {
    bePatient();
    byte[] value = filled(largest(), 'v');
    assertEquals(Status.OK, db.insert(TABLE, key, Map.of("field0", bytes(value))));
    assertFields(Map.of("field0", value));
    byte[] other = filled(largest(), 'w');
    assertEquals(Status.OK, db.update(TABLE, key, Map.of("field0", bytes(other))));
    assertFields(Map.of("field0", other));
    assertEquals(Status.OK, db.delete(TABLE, key));
  }

  @Test
  void aValueOverTheLimitIsAnErrorAndChangesNothing() throws DBException {
    bePatient();
    for (int size : tooLarge()) {
      Map<String, ByteIterator> large = Map.of("field0", bytes(filled(size, 'v')));
      assertEquals(refused(), db.insert(TABLE, key, large).getName(), size + " bytes");
      // The connection is in step, or a new one.
      assertEquals(Status.NOT_FOUND, read(key, null), size + " bytes");
      assertEquals(Status.OK, db.insert(TABLE, key, record("field0", "1")));
      large = Map.of("field0", bytes(filled(size, 'v')));
      assertEquals(refused(), db.update(TABLE, key, large).getName(), size + " bytes");
      assertEquals(Map.of("field0", "1"), read(key, null), size + " bytes");
      assertEquals(Status.OK, db.delete(TABLE, key));
    }
  }

  /** What the binding calls the store in its messages. */
  String called() {
    return store;
  }

  int recordsOfEachThread() {
    return 2000;
  }

  @Test
  void fourThreadsDoNotMixTheirAnswers() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Void>> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      String mine = key + "-" + t + "-";
      threads.add(pool.submit((Callable<Void>) () -> writeAndRead(mine)));
    }
    for (Future<Void> thread : threads) {
      thread.get();
    }
    pool.shutdown();
  }

  private Void writeAndRead(String mine) throws DBException {
    DB client = connected(port);
    for (int i = 0; i < recordsOfEachThread(); i++) {
      String name = mine + i;
      assertEquals(Status.OK, client.insert(TABLE, name, record("field0", name)));
      Map<String, ByteIterator> result = new HashMap<>();
      assertEquals(Status.OK, client.read(TABLE, name, null, result));
      assertEquals(name, result.get("field0").toString());
      assertEquals(Status.OK, client.update(TABLE, name, record("field0", "new" + name)));
      result.clear();
      assertEquals(Status.OK, client.read(TABLE, name, null, result));
      assertEquals("new" + name, result.get("field0").toString());
      assertEquals(Status.OK, client.delete(TABLE, name));
    }
    client.cleanup();
    return null;
  }

  @Test
  void aServerThatIsGoneIsAnErrorAndIsFoundAgain() throws Exception {
    try (Link link = new Link(port)) {
      db.cleanup();
      db = connected(link.port());
      assertEquals(Status.OK, db.insert(TABLE, key, record("field0", "1")));
      link.cut();
      assertTimeout(
          Duration.ofSeconds(20),
          () -> {
            assertEquals(Status.ERROR, read(key, null));
            assertEquals(Status.ERROR, db.update(TABLE, key, record("field0", "2")));
            assertEquals(Status.ERROR, db.insert(TABLE, key + "x", record("field0", "2")));
            assertEquals(Status.ERROR, db.delete(TABLE, key));
          });
      link.join();
      assertEquals(Map.of("field0", "1"), read(key, null));
    }
  }

  @Test
  void aServerThatHangsIsAnErrorInBoundedTime() throws Exception {
    try (Link link = new Link(port)) {
      db.cleanup();
      db = connected(link.port());
      db.insert(TABLE, key, record("field0", "1"));
      link.freeze(true);
      assertTimeout(Duration.ofSeconds(20), () -> assertEquals(Status.ERROR, read(key, null)));
      link.freeze(false);
      // The answer of the operation that timed out must not become the answer of this one.
      assertEquals(Status.NOT_FOUND, read(key + "absent", null));
      assertEquals(Map.of("field0", "1"), read(key, null));
    }
  }

  @Test
  void failuresAreReportedOnce() throws Exception {
    PrintStream before = System.err;
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    try (Link link = new Link(port)) {
      db.cleanup();
      db = connected(link.port());
      System.setErr(new PrintStream(err, true));
      link.cut();
      for (int i = 0; i < 100; i++) {
        assertEquals(Status.ERROR, read(key, null));
      }
    } finally {
      System.setErr(before);
    }
    String text = err.toString();
    // Memcached has two kinds: the connection that ended, then those that are refused.
    assertTrue(text.lines().count() >= 1 && text.lines().count() <= 2, text);
    assertTrue(text.startsWith(called() + " 127.0.0.1:"), text);
    assertFalse(text.contains("\tat "), text);
  }
}
