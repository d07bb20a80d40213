package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

class MongoDbContractTest extends StoreContract {
  MongoDbContractTest() {
    super("mongodb");
  }

  /** A document may have 16 MiB; what is not the value is as in a document with an empty one. */
  @Override
  int largest() {
    BsonDocument empty = id().append("field0", new BsonBinary(new byte[0]));
    return (16 << 20)
        - new RawBsonDocument(empty, new BsonDocumentCodec()).getByteBuffer().remaining();
  }

  @Override
  List<Integer> tooLarge() {
    return List.of(largest() + 1, 17 << 20);
  }

  /**
   * The end of the connection, a server that is known to be away, and a refused connection: on a
   * busy machine an operation comes between the driver's notice and the next connection.
   */
  @Override
  int kindsOfLoss() {
    return 3;
  }

  private MongoClient raw() {
    return MongoClients.create("mongodb://127.0.0.1:" + port);
  }

  private static MongoCollection<BsonDocument> records(MongoClient client) {
    return client.getDatabase("ycsb").getCollection(TABLE, BsonDocument.class);
  }

  private BsonDocument id() {
    return new BsonDocument("_id", new BsonString(key));
  }

  @Test
  void insertOfAnExistingKeyIsAnError() {
    db.insert(TABLE, key, record("a", "1"));
    assertEquals(Status.ERROR, db.insert(TABLE, key, record("a", "2")));
    assertEquals(Map.of("a", "1"), read(key, null));
  }

  @Test
  void updateChangesOnlyTheGivenFields() {
    db.insert(TABLE, key, record("a", "1", "b", "2"));
    assertEquals(Status.OK, db.update(TABLE, key, record("b", "9")));
    assertEquals(Map.of("a", "1", "b", "9"), read(key, null));
    // Nothing changes, but the record is there.
    assertEquals(Status.OK, db.update(TABLE, key, record("b", "9")));
  }

  @Test
  void updateOfAMissingKeyIsNotFound() {
    assertEquals(Status.NOT_FOUND, db.update(TABLE, key, record("a", "1")));
    assertEquals(Status.NOT_FOUND, read(key, null));
  }

  @Test
  void theLayoutIsThatOfYcsbsBinding() {
    db.insert(TABLE, key, record("a", "1"));
    try (MongoClient client = raw()) {
      BsonDocument expected = id().append("a", new BsonBinary("1".getBytes()));
      assertEquals(expected, records(client).find(id()).first());
    }
  }

  @Test
  void scanFollowsTheKeysFromTheStartKey() {
    List<String> keys = new ArrayList<>();
    for (int i = 10; i < 30; i++) {
      keys.add(key + i);
    }
    // Inserted backwards: the order is that of the keys, not of the insertion.
    for (int i = 19; i >= 0; i--) {
      db.insert(TABLE, keys.get(i), record("id", keys.get(i), "other", "x"));
    }
    assertEquals(keys.subList(5, 15), scan(keys.get(5), 10));
    assertEquals(List.of(keys.get(5)), scan(keys.get(5), 1));
    keys.forEach(name -> db.delete(TABLE, name));
    String afterAll = "\uffff";
    assertEquals(Status.NOT_FOUND, db.scan(TABLE, afterAll, 10, null, new Vector<>()));
  }

  private List<String> scan(String start, int count) {
    Vector<HashMap<String, ByteIterator>> records = new Vector<>();
    assertEquals(Status.OK, db.scan(TABLE, start, count, Set.of("id"), records));
    List<String> ids = new ArrayList<>();
    for (Map<String, ByteIterator> record : records) {
      assertEquals(Set.of("id"), record.keySet());
      ids.add(record.get("id").toString());
    }
    return ids;
  }

  @Test
  void anErrorAnswerIsAnError() {
    try (MongoClient client = raw()) {
      records(client).insertOne(id().append("a", new BsonInt32(1)));
    }
    // A number has no field to set.
    assertEquals(Status.ERROR, db.update(TABLE, key, record("a.b", "1")));
    assertEquals(Status.OK, db.delete(TABLE, key));
    assertEquals(Status.NOT_FOUND, read(key, null));
  }

  /** The server ends an answer at 16 MiB. */
  @Test
  void aScanOfMoreThanOneAnswerIsAnError() {
    for (String name : List.of(key + 1, key + 2)) {
      db.insert(TABLE, name, record("a", "x".repeat(9 << 20)));
    }
    assertEquals(Status.OK, db.scan(TABLE, key + 1, 1, null, new Vector<>()));
    assertEquals(Status.ERROR, db.scan(TABLE, key + 1, 2, null, new Vector<>()));
    db.delete(TABLE, key + 1);
    db.delete(TABLE, key + 2);
  }

  @Test
  void writesWithoutAnAnswerAreRefused() {
    MongoDbClient client = new MongoDbClient();
    Properties p = new Properties();
    p.setProperty("mongodb.url", "mongodb://127.0.0.1:" + port + "/ycsb?w=0");
    client.setProperties(p);
    DBException e = assertThrows(DBException.class, client::init);
    assertTrue(e.getMessage().startsWith("mongodb.url: w=0"), e.getMessage());
  }
}
