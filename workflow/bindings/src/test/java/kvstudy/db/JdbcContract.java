package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.Status;

/** What the stores with tables have in common. */
abstract class JdbcContract extends StoreContract {
  JdbcContract(String store) {
    super(store);
  }

  /** As much as a TEXT column can hold. */
  @Override
  int largest() {
    return 65_535;
  }

  /** The last is over {@code max_allowed_packet}, 4 MiB of MySQL 5.6 and 16 MiB of MariaDB. */
  @Override
  List<Integer> tooLarge() {
    return List.of(65_536, 17 << 20);
  }

  @Test
  void insertOfAnExistingKeyIsAnErrorAndKeepsTheConnection() throws SQLException {
    db.insert(TABLE, key, record("field0", "1"));
    long before = oldest();
    assertEquals(Status.ERROR, db.insert(TABLE, key, record("field0", "2")));
    assertEquals(Map.of("field0", "1"), read(key, null));
    assertEquals(before, oldest());
  }

  @Test
  void updateChangesOnlyTheGivenFields() {
    db.insert(TABLE, key, record("field0", "1", "field1", "2"));
    assertEquals(Status.OK, db.update(TABLE, key, record("field1", "9")));
    assertEquals(Map.of("field0", "1", "field1", "9"), read(key, null));
  }

  @Test
  void updateWithTheSameValuesIsOk() {
    db.insert(TABLE, key, record("field0", "1"));
    assertEquals(Status.OK, db.update(TABLE, key, record("field0", "1")));
  }

  @Test
  void updateOfAMissingKeyIsNotFound() {
    assertEquals(Status.NOT_FOUND, db.update(TABLE, key, record("field0", "1")));
    assertEquals(Status.NOT_FOUND, read(key, null));
  }

  @Test
  void aFieldThatTheTableDoesNotHaveIsAnError() {
    db.insert(TABLE, key, record("field0", "1"));
    assertEquals(Status.ERROR, db.update(TABLE, key, record("field10", "1")));
    assertEquals(Status.ERROR, read(key, Set.of("field10")));
    assertEquals(Map.of("field0", "1"), read(key, Set.of("field0")));
  }

  @Test
  void theLayoutIsThatOfYcsbsBinding() throws SQLException {
    db.insert(TABLE, key, record("field0", "1", "field9", "2"));
    try (Connection raw = raw();
        PreparedStatement select =
            raw.prepareStatement("SELECT FIELD0, FIELD9 FROM usertable WHERE YCSB_KEY = ?")) {
      select.setString(1, key);
      ResultSet row = select.executeQuery();
      row.next();
      assertEquals("1", new String(row.getBytes(1)));
      assertEquals("2", new String(row.getBytes(2)));
    }
  }

  @Test
  void scanFollowsTheKeysFromTheStartKey() {
    List<String> keys = new ArrayList<>();
    for (int i = 10; i < 30; i++) {
      keys.add(key + i);
      db.insert(TABLE, key + i, record("field0", key + i, "field1", "x"));
    }
    assertEquals(keys.subList(5, 10), scan(keys.get(5), 5));
    assertEquals(keys.subList(5, 20), scan(keys.get(5), 1000).subList(0, 15));
    assertEquals(List.of(), scan("v", 10));
    keys.forEach(name -> db.delete(TABLE, name));
  }

  /** The field 0 of the records that a scan finds, in its order. */
  private List<String> scan(String start, int count) {
    Vector<HashMap<String, ByteIterator>> records = new Vector<>();
    assertEquals(Status.OK, db.scan(TABLE, start, count, Set.of("field0"), records));
    List<String> values = new ArrayList<>();
    for (Map<String, ByteIterator> record : records) {
      assertEquals(Set.of("field0"), record.keySet());
      values.add(record.get("field0").toString());
    }
    return values;
  }

  private Connection raw() throws SQLException {
    Properties p = db.getProperties();
    return DriverManager.getConnection(
        p.getProperty("db.url"), p.getProperty("db.user", "root"), "");
  }

  /** A query of the oldest connection but the one that asks. */
  String oldestConnection() {
    return "SELECT MIN(id) FROM information_schema.processlist"
        + " WHERE user = 'root' AND id <> CONNECTION_ID()";
  }

  /** The oldest connection is the client's. */
  private long oldest() throws SQLException {
    try (Connection raw = raw();
        ResultSet row = raw.createStatement().executeQuery(oldestConnection())) {
      row.next();
      return row.getLong(1);
    }
  }
}
