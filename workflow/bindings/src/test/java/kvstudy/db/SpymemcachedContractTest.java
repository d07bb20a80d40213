package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/** The same by way of the library of YCSB's own binding. */
class SpymemcachedContractTest extends MemcachedContractTest {
  @Override
  DB client(int at) {
    return Clients.create("spymemcached", at, timeout(at));
  }

  /** spymemcached's buffer for a replace has no room for a length of seven digits. */
  @Override
  int largest() {
    return 999_999 - "{'field0':''}".length();
  }

  /** It cancels the operation under way, before its thread sees the connection's end. */
  @Override
  int kindsOfLoss() {
    return 3;
  }

  @Test
  void theBinaryProtocolGivesTheSameStatuses() throws DBException {
    db.cleanup();
    db = client(port);
    db.getProperties().setProperty("memcached.protocol", "binary");
    db.init();
    assertEquals(Status.NOT_FOUND, read(key, null));
    assertEquals(Status.NOT_FOUND, db.update(TABLE, key, record("a", "1")));
    assertEquals(Status.NOT_FOUND, db.delete(TABLE, key));
    assertEquals(Status.OK, db.insert(TABLE, key, record("a", "1")));
    assertEquals(Status.ERROR, db.insert(TABLE, key, record("a", "2")));
    assertEquals(Status.OK, db.update(TABLE, key, record("b", "3")));
    assertEquals(Map.of("b", "3"), read(key, null));
    assertEquals(Status.OK, db.delete(TABLE, key));
  }

  @Test
  void itsThreadsEndWithIt() throws Exception {
    List<Thread> threads = List.copyOf(Thread.getAllStackTraces().keySet());
    DB other = connected(port);
    List<Thread> started =
        Thread.getAllStackTraces().keySet().stream().filter(t -> !threads.contains(t)).toList();
    assertFalse(started.isEmpty());
    assertEquals(Status.OK, other.insert(TABLE, key, record("a", "1")));
    other.cleanup();
    for (Thread thread : started) {
      thread.join(5000);
      assertFalse(thread.isAlive(), thread.getName());
    }
  }
}
