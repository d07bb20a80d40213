package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

class CassandraContractTest extends StoreContract {
  CassandraContractTest() {
    super("cassandra");
  }

  private CqlSession raw() {
    return CqlSession.builder()
        .addContactPoint(new InetSocketAddress("127.0.0.1", port))
        .withLocalDatacenter("datacenter1")
        .withKeyspace("ycsb")
        .build();
  }

  /**
   * A message may have 16 MiB, and so may a mutation: half of a segment of the commit log. Other
   * bytes than the value's are part of both.
   */
  @Override
  int largest() {
    return (16 << 20) - 1024;
  }

  @Override
  List<Integer> tooLarge() {
    return List.of(16 << 20, 17 << 20);
  }

  @Override
  Status deleteOfAMissingKey() {
    return Status.OK;
  }

  @Test
  void insertOfAnExistingKeyOverwritesTheGivenFields() {
    db.insert(TABLE, key, record("field0", "1", "field1", "2"));
    assertEquals(Status.OK, db.insert(TABLE, key, record("field1", "9")));
    assertEquals(Map.of("field0", "1", "field1", "9"), read(key, null));
  }

  @Test
  void updateChangesOnlyTheGivenFields() {
    db.insert(TABLE, key, record("field0", "1", "field1", "2"));
    assertEquals(Status.OK, db.update(TABLE, key, record("field1", "9")));
    assertEquals(Map.of("field0", "1", "field1", "9"), read(key, null));
  }

  @Test
  void updateOfAMissingKeyCreatesIt() {
    assertEquals(Status.OK, db.update(TABLE, key, record("field0", "1")));
    assertEquals(Map.of("field0", "1"), read(key, null));
  }

  @Test
  void theLayoutIsThatOfYcsbsBinding() {
    db.insert(TABLE, key, Map.of("field0", bytes(new byte[] {'a', (byte) 0xe4})));
    try (CqlSession session = raw()) {
      Row row =
          session.execute("SELECT y_id, field0, field1 FROM usertable WHERE y_id = ?", key).one();
      assertEquals(key, row.getString("y_id"));
      assertEquals("a\u00e4", row.getString("field0"));
      assertEquals(null, row.getString("field1"));
    }
  }

  @Test
  void scanFollowsTheTokensFromTheStartKey() {
    for (int i = 0; i < 20; i++) {
      db.insert(TABLE, key + i, record("field0", key + i, "field1", "x"));
    }
    List<String> keys = new ArrayList<>();
    try (CqlSession session = raw()) {
      for (Row row : session.execute("SELECT y_id FROM usertable")) {
        keys.add(row.getString("y_id"));
      }
    }
    int first = keys.indexOf(key + 7);
    assertEquals(List.of(key + 7), scan(key + 7, 1));
    List<String> expected = keys.subList(first, Math.min(first + 5, keys.size()));
    assertEquals(expected.size(), scan(key + 7, 5).size());
    List<String> mine = new ArrayList<>(keys.subList(first, keys.size()));
    mine.removeIf(name -> !name.startsWith(key));
    List<String> scanned = scan(key + 7, 1_000_000);
    scanned.removeIf(name -> !name.startsWith(key));
    assertEquals(mine, scanned);
    keys.forEach(name -> db.delete(TABLE, name));
    assertEquals(List.of(), scan(key + 7, 1_000_000));
  }

  /** The field0 of the records that a scan finds, in its order; empty where there is none. */
  private List<String> scan(String start, int count) {
    Vector<HashMap<String, ByteIterator>> scanned = new Vector<>();
    assertEquals(Status.OK, db.scan(TABLE, start, count, Set.of("field0"), scanned));
    List<String> ids = new ArrayList<>();
    for (Map<String, ByteIterator> record : scanned) {
      ids.add(record.containsKey("field0") ? record.get("field0").toString() : "");
    }
    return ids;
  }

  @Test
  void threadsWithTheSameSettingsShareTheirSession() throws Exception {
    db.insert(TABLE, key, record("field0", "1"));
    DB other = connected(port);
    other.cleanup();
    // Not closed as long as somebody uses it.
    assertEquals(Map.of("field0", "1"), read(key, null));
  }

  @Test
  void anErrorAnswerIsAnError() {
    assertEquals(Status.ERROR, db.insert(TABLE, key, record("nocolumn", "1")));
    assertEquals(Status.ERROR, db.read("notable", key, null, new HashMap<>()));
    assertEquals(Status.NOT_FOUND, read(key, null));
  }
}
