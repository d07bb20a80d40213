package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.junit.jupiter.api.Test;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * What every binding has to do with records, in a store that the tests may fill and leave dirty.
 *
 * <p>The fields are named as YCSB names them: a store with columns has no others.
 */
abstract class RecordContract {
  static final String TABLE = "usertable";

  final String key = "user" + UUID.randomUUID();
  DB db;

  @BeforeEach
  void connect() throws DBException {
    db = connected();
  }

  @AfterEach
  void disconnect() throws DBException {
    db.cleanup();
  }

  final DB connected() throws DBException {
    DB client = client();
    client.init();
    return client;
  }

  /** A client of the store, not connected yet. */
  abstract DB client() throws DBException;

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
    if (db instanceof Truncatable emptying) {
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

  int recordsOfEachThread() {
    return 500;
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
    DB client = connected();
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
}
