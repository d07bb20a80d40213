package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Vector;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

class EtcdContractTest extends StoreContract {
  EtcdContractTest() {
    super("etcd");
  }

  /** Of a request, 1.5 MiB. */
  @Override
  int largest() {
    return 1_500_000;
  }

  @Override
  List<Integer> tooLarge() {
    return List.of(1_572_864, 4 << 20);
  }

  /** Each write is flushed. */
  @Override
  int recordsOfEachThread() {
    return 100;
  }

  @Test
  void anUpdateKeepsTheOtherFields() {
    db.insert(TABLE, key, record("field0", "1", "field1", "2"));
    assertEquals(Status.OK, db.update(TABLE, key, record("field1", "3")));
    assertEquals(Map.of("field0", "1", "field1", "3"), read(key, null));
    assertEquals(Status.NOT_FOUND, db.update(TABLE, key + "x", record("field1", "3")));
  }

  @Test
  void ofTwoClientsThatUpdateARecordNeitherLosesAField() throws Exception {
    db.insert(TABLE, key, record("field0", "0", "field1", "0"));
    CompletableFuture<Void> other = CompletableFuture.runAsync(() -> count("field0"));
    count("field1");
    other.get();
    assertEquals(Map.of("field0", "50", "field1", "50"), read(key, null));
  }

  private void count(String field) {
    try {
      DB client = connected();
      for (int i = 1; i <= 50; i++) {
        assertEquals(Status.OK, client.update(TABLE, key, record(field, "" + i)));
      }
      client.cleanup();
    } catch (DBException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aScanIsInTheOrderOfTheKeys() {
    for (int i = 4; i >= 0; i--) {
      db.insert(TABLE, key + i, record("field0", "" + i));
    }
    Vector<HashMap<String, ByteIterator>> records = new Vector<>();
    assertEquals(Status.OK, db.scan(TABLE, key + "2", 2, null, records));
    assertEquals(
        List.of("2", "3"), records.stream().map(each -> each.get("field0").toString()).toList());
    assertEquals(Status.NOT_FOUND, db.scan(TABLE, "\uffff", 2, null, new Vector<>()));
  }
}
