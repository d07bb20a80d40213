package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * What a binding has to do that reaches a server, against a real one.
 *
 * <p>The system property named like the store says where it listens: {@code
 * -Dredis=127.0.0.1:7000}.
 */
@Tag("contract")
abstract class StoreContract extends RecordContract {
  final String store;
  final int port;

  StoreContract(String store) {
    this.store = store;
    String address = System.getProperty(store, "");
    assertTrue(
        address.matches("127\\.0\\.0\\.1:\\d+"),
        "give a test server: -D" + store + "=127.0.0.1:<port>");
    port = Integer.parseInt(address.substring(address.indexOf(':') + 1));
  }

  /** What the binding calls the store in its messages. */
  String called() {
    return store;
  }

  @Override
  DB client() {
    return client(port);
  }

  /** A client of the store at another port, not connected yet. */
  DB client(int at) {
    return Clients.create(store, at, timeout(at));
  }

  /** Milliseconds. A busy machine makes the server itself slow; links are cut on purpose. */
  final int timeout(int at) {
    return at == port ? 10_000 : 1000;
  }

  /** So many kinds of failure a lost connection may have: its own end, then refused ones. */
  int kindsOfLoss() {
    return 2;
  }

  final DB connected(int at) throws DBException {
    DB client = client(at);
    client.init();
    return client;
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
    assertTrue(text.lines().count() >= 1 && text.lines().count() <= kindsOfLoss(), text);
    assertTrue(text.startsWith(called() + " 127.0.0.1:"), text);
    assertFalse(text.contains("\tat "), text);
  }
}
