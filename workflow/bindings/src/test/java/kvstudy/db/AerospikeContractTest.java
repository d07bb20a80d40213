package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import com.aerospike.client.Bin;
import com.aerospike.client.IAerospikeClient;
import com.aerospike.client.Key;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import site.ycsb.Status;

class AerospikeContractTest extends StoreContract {
  /** As shipped, a record has at most 1 MiB with all that the server adds to it. */
  private static final int LIMIT = 1 << 20;

  AerospikeContractTest() {
    super("aerospike");
  }

  private IAerospikeClient raw() {
    return new com.aerospike.client.AerospikeClient("127.0.0.1", port);
  }

  private Key id() {
    return new Key("ycsb", TABLE, key);
  }

  @Override
  int largest() {
    return LIMIT - 100;
  }

  /** The second is over what a message to the server may have. */
  @Override
  List<Integer> tooLarge() {
    return List.of(LIMIT, 9 << 20);
  }

  @Test
  void insertOfAnExistingKeyIsAnError() {
    db.insert(TABLE, key, record("a", "1"));
    assertEquals(Status.ERROR, db.insert(TABLE, key, record("a", "2")));
    assertEquals(Map.of("a", "1"), read(key, null));
  }

  @Test
  void updateReplacesTheRecordByTheGivenFields() {
    db.insert(TABLE, key, record("a", "1", "b", "2"));
    assertEquals(Status.OK, db.update(TABLE, key, record("b", "9")));
    assertEquals(Map.of("b", "9"), read(key, null));
    // The record is there, but without that field.
    assertEquals(Map.of(), read(key, Set.of("a")));
  }

  @Test
  void updateOfAMissingKeyIsNotFound() {
    assertEquals(Status.NOT_FOUND, db.update(TABLE, key, record("a", "1")));
    assertEquals(Status.NOT_FOUND, read(key, null));
  }

  @Test
  void theLayoutIsThatOfYcsbsBinding() {
    db.insert(TABLE, key, record("a", "1"));
    try (IAerospikeClient client = raw()) {
      assertArrayEquals("1".getBytes(), (byte[]) client.get(null, id()).bins.get("a"));
    }
  }

  @Test
  void aNameThatTheServerCannotHoldIsAnError() {
    assertEquals(Status.ERROR, db.insert(TABLE, key, record("a name of more than 15", "1")));
    assertEquals(Status.NOT_FOUND, read(key, null));
  }

  @Test
  void aForeignValueIsAnError() {
    try (IAerospikeClient client = raw()) {
      client.put(null, id(), new Bin("a", 1), new Bin("b", "1".getBytes()));
    }
    assertEquals(Status.ERROR, read(key, null));
    assertEquals(Map.of("b", "1"), read(key, Set.of("b")));
  }

  @Test
  void anUnknownNamespaceIsAnError() throws Exception {
    db.cleanup();
    db.getProperties().setProperty("as.namespace", "absent");
    db.init();
    assertEquals(Status.ERROR, db.insert(TABLE, key, record("a", "1")));
    assertEquals(Status.ERROR, db.read(TABLE, key, null, new HashMap<>()));
    assertEquals(Status.ERROR, db.delete(TABLE, key));
  }

  /** The driver gives up a server after some seconds, and looks for it once a second from then. */
  @Test
  void aServerThatWasGoneForLongIsFoundAtOnce() throws Exception {
    try (Link link = new Link(port)) {
      db.cleanup();
      db = connected(link.port());
      assertEquals(Status.OK, db.insert(TABLE, key, record("a", "1")));
      link.cut();
      long end = System.nanoTime() + Duration.ofSeconds(8).toNanos();
      while (System.nanoTime() < end) {
        assertTimeout(Duration.ofSeconds(20), () -> assertEquals(Status.ERROR, read(key, null)));
        Thread.sleep(20);
      }
      link.join();
      assertEquals(Map.of("a", "1"), read(key, null));
    }
  }
}
