package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/** What Redis and Valkey have in common. */
abstract class RedisContract extends StoreContract {
  private static final int LIMIT = 32 << 20;

  RedisContract(String store) {
    super(store);
  }

  /**
   * As shipped, the limit of a value is 512 MB, more than the few copies of it that a client makes
   * leave of a heap.
   */
  @BeforeEach
  void lowerTheLimit() {
    try (Jedis redis = new Jedis("127.0.0.1", port)) {
      redis.configSet("proto-max-bulk-len", Integer.toString(LIMIT));
    }
  }

  @Override
  int largest() {
    return LIMIT;
  }

  @Override
  List<Integer> tooLarge() {
    return List.of(LIMIT + 1, 2 * LIMIT);
  }

  @Test
  void updateChangesOnlyTheGivenFields() {
    db.insert(TABLE, key, record("a", "1", "b", "2"));
    assertEquals(Status.OK, db.update(TABLE, key, record("b", "9")));
    assertEquals(Map.of("a", "1", "b", "9"), read(key, null));
  }

  @Test
  void updateOfAMissingKeyCreatesIt() {
    assertEquals(Status.OK, db.update(TABLE, key, record("a", "1")));
    assertEquals(Map.of("a", "1"), read(key, null));
    db.delete(TABLE, key);
  }

  @Test
  void theLayoutIsThatOfYcsbsBinding() {
    db.insert(TABLE, key, record("a", "1", "b", "2"));
    try (Jedis redis = new Jedis("127.0.0.1", port)) {
      assertEquals(Map.of("a", "1", "b", "2"), redis.hgetAll(key));
      assertEquals((double) key.hashCode(), redis.zscore("_indices", key));
      db.delete(TABLE, key);
      assertEquals(false, redis.exists(key));
      assertEquals(null, redis.zscore("_indices", key));
    }
  }

  @Test
  void scanFollowsTheIndexFromTheStartKey() {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      keys.add(key + i);
      db.insert(TABLE, key + i, record("id", key + i, "other", "x"));
    }
    keys.sort(Comparator.comparingInt(String::hashCode));
    assertEquals(keys.subList(5, 20), scan(keys.get(5), Integer.MAX_VALUE));
    assertEquals(List.of(keys.get(5)), scan(keys.get(5), 1));
    keys.forEach(name -> db.delete(TABLE, name));
    assertEquals(List.of(), scan(keys.get(5), Integer.MAX_VALUE));
  }

  /** The field id of the records of this test that a scan finds, in its order. */
  private List<String> scan(String start, int count) {
    Vector<HashMap<String, ByteIterator>> records = new Vector<>();
    assertEquals(Status.OK, db.scan(TABLE, start, count, Set.of("id"), records));
    List<String> ids = new ArrayList<>();
    for (Map<String, ByteIterator> record : records) {
      assertEquals(Set.of("id"), record.keySet());
      String id = record.get("id").toString();
      if (id.startsWith(key)) {
        ids.add(id);
      }
    }
    return ids;
  }

  @Test
  void anErrorAnswerIsAnError() {
    try (Jedis redis = new Jedis("127.0.0.1", port)) {
      redis.set(key, "no hash");
      assertEquals(Status.ERROR, read(key, null));
      assertEquals(Status.ERROR, db.update(TABLE, key, record("a", "1")));
      redis.del(key);
    }
    assertEquals(Status.NOT_FOUND, read(key, null));
  }

  /** A client whose records are plain strings. */
  private DB strings() throws DBException {
    Properties p = new Properties();
    p.setProperty("redis.port", Integer.toString(port));
    p.setProperty("redis.layout", "string");
    DB client = new RedisClient();
    client.setProperties(p);
    client.init();
    return client;
  }

  @Test
  void aPlainStringIsTheOnlyFieldAndHasNoIndex() throws DBException {
    DB plain = strings();
    Map<String, ByteIterator> records = new HashMap<>();
    assertEquals(Status.NOT_FOUND, plain.read(TABLE, key, null, records));
    assertEquals(Status.OK, plain.insert(TABLE, key, record("field0", "1")));
    assertEquals(Status.OK, plain.read(TABLE, key, null, records));
    assertEquals(Set.of("field0"), records.keySet());
    try (Jedis redis = new Jedis("127.0.0.1", port)) {
      assertEquals("1", redis.get(key));
      assertEquals(null, redis.zscore("_indices", key));
    }
    assertEquals(Status.OK, plain.update(TABLE, key, record("field0", "2")));
    records.clear();
    assertEquals(Status.OK, plain.read(TABLE, key, Set.of("other"), records));
    assertEquals("2", records.get("other").toString());
    assertEquals(Status.NOT_IMPLEMENTED, plain.scan(TABLE, key, 1, null, new Vector<>()));
    // Of several fields only one could be kept.
    assertEquals(Status.ERROR, plain.insert(TABLE, key, record("a", "1", "b", "2")));
    assertEquals(Status.OK, plain.delete(TABLE, key));
    assertEquals(Status.NOT_FOUND, plain.delete(TABLE, key));
    plain.cleanup();
  }

  @Test
  void anUnknownLayoutIsRefused() {
    Properties p = new Properties();
    p.setProperty("redis.layout", "list");
    DB client = new RedisClient();
    client.setProperties(p);
    DBException e = assertThrows(DBException.class, client::init);
    assertTrue(e.getMessage().contains("give hash or string"), e.getMessage());
  }
}
