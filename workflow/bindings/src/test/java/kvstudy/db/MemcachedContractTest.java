package kvstudy.db;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import site.ycsb.Status;

class MemcachedContractTest extends StoreContract {
  MemcachedContractTest() {
    super("memcached");
  }

  /**
   * An item may have 1 MiB, of which the key, the JSON around the value and the header are part.
   */
  @Override
  int largest() {
    return (1 << 20) - 1024;
  }

  @Override
  List<Integer> tooLarge() {
    return List.of(1 << 20, 3 << 20);
  }

  private MemcachedConnection raw() throws IOException {
    return new MemcachedConnection(new InetSocketAddress("127.0.0.1", port), 1000);
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
  }

  @Test
  void updateOfAMissingKeyIsNotFound() {
    assertEquals(Status.NOT_FOUND, db.update(TABLE, key, record("a", "1")));
    assertEquals(Status.NOT_FOUND, read(key, null));
  }

  @Test
  void theLayoutIsThatOfYcsbsBinding() throws IOException {
    db.insert(TABLE, key, record("a", "1"));
    try (MemcachedConnection memcached = raw()) {
      assertEquals("{\"a\":\"1\"}", new String(memcached.get("usertable-" + key), UTF_8));
      assertTrue(memcached.version().matches("\\d+\\.\\d+.*"));
    }
  }

  @Test
  void aKeyThatWouldBreakTheProtocolIsAnError() {
    assertEquals(Status.ERROR, read("with space", null));
    assertEquals(Status.ERROR, read("x\r\nflush_all", null));
    assertEquals(Status.ERROR, read("x".repeat(300), null));
    assertEquals(Status.NOT_FOUND, read(key, null));
  }

  @Test
  void aForeignValueIsAnError() throws IOException {
    try (MemcachedConnection memcached = raw()) {
      memcached.add(TABLE + "-" + key, 0, "no JSON".getBytes(UTF_8));
    }
    assertEquals(Status.ERROR, read(key, null));
    assertEquals(Status.OK, db.delete(TABLE, key));
    assertEquals(Status.NOT_FOUND, read(key, null));
  }
}
