package kvstudy.db;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Vector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/** What happens when no server, a hanging one, or something else than the store listens. */
class DeadServerTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private static List<String> stores() {
    return List.of(
        "redis",
        "memcached",
        "spymemcached",
        "aerospike",
        "cassandra",
        "mongodb",
        "mysql",
        "mariadb",
        "postgresql",
        "etcd",
        "dynamodb",
        "riak");
  }

  private static ServerSocket listen() throws IOException {
    return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  private static void initFails(String store, int port) {
    DB db = Clients.create(store, port, 500);
    DBException e = assertTimeout(LIMIT, () -> assertThrows(DBException.class, db::init));
    assertTrue(e.getMessage().contains("127.0.0.1:" + port), e.getMessage());
    assertTrue(e.getMessage().contains("start the server"), e.getMessage());
  }

  @ParameterizedTest
  @MethodSource("stores")
  void nobodyListens(String store) throws IOException {
    int port;
    try (ServerSocket free = listen()) {
      port = free.getLocalPort();
    }
    initFails(store, port);
  }

  @ParameterizedTest
  @MethodSource("stores")
  void theServerAcceptsAndNeverAnswers(String store) throws IOException {
    try (ServerSocket silent = listen()) {
      initFails(store, silent.getLocalPort());
    }
  }

  @ParameterizedTest
  @MethodSource("stores")
  void somethingElseListens(String store) throws Exception {
    try (ServerSocket other = listen()) {
      answer(other, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
      initFails(store, other.getLocalPort());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis", "memcached", "spymemcached", "aerospike", "dynamodb", "riak"})
  void scansWithoutAnOrderOfKeysNeedNoServer(String store) {
    DB db = Clients.create(store, 1, 500);
    db.getProperties().setProperty("redis.layout", "string");
    assertThrows(DBException.class, db::init);
    assertEquals(Status.NOT_IMPLEMENTED, db.scan("usertable", "k", 1, null, new Vector<>()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SERVER_ERROR out of memory storing object\r\n",
        "ERROR\r\n",
        "VALUE usertable-k 0 10\r\nabc",
        "VALUE usertable-k 0 x\r\n",
        "VALUE usertable-k 0 3\r\nabcdef\r\nEND\r\n",
        "VALUE usertable-k 0 3\r\nabc\r\nEND\r\n",
        ""
      })
  void badAnswersOfMemcachedAreErrors(String text) throws Exception {
    try (ServerSocket other = listen()) {
      answer(other, "VERSION 1\r\n" + text);
      DB db = Clients.create("memcached", other.getLocalPort(), 500);
      db.init();
      assertEquals(Status.ERROR, db.read("usertable", "k", null, new HashMap<>()));
      db.cleanup();
    }
  }

  @Test
  void badPropertiesFailBeforeConnecting() {
    DB redis = Clients.create("redis", 1, 500);
    redis.getProperties().setProperty("redis.port", "many");
    assertTrue(
        assertThrows(DBException.class, redis::init).getMessage().contains("redis.port=many"));
    redis.getProperties().setProperty("redis.port", "1");
    redis.getProperties().setProperty("redis.cluster", "true");
    assertTrue(assertThrows(DBException.class, redis::init).getMessage().contains("redis.cluster"));
    for (String name : List.of("memcached.client", "memcached.protocol")) {
      DB memcached = Clients.create("memcached", 1, 500);
      memcached.getProperties().setProperty(name, "many");
      DBException e = assertThrows(DBException.class, memcached::init);
      assertTrue(e.getMessage().startsWith(name + "=many: give "), e.getMessage());
    }
    for (String name : List.of("as.port", "as.timeout")) {
      DB aerospike = Clients.create("aerospike", 1, 500);
      aerospike.getProperties().setProperty(name, "many");
      DBException e = assertThrows(DBException.class, aerospike::init);
      assertTrue(e.getMessage().startsWith(name + "=many: "), e.getMessage());
    }
    for (String name : List.of("port", "cassandra.readconsistencylevel")) {
      DB cassandra = Clients.create("cassandra", 1, 500);
      cassandra.getProperties().setProperty(name, "many");
      DBException e = assertThrows(DBException.class, cassandra::init);
      assertTrue(e.getMessage().startsWith(name + "=many: "), e.getMessage());
    }
    for (String name : List.of("batchsize", "mongodb.writeConcern", "mongodb.upsert")) {
      DB mongodb = Clients.create("mongodb", 1, 500);
      mongodb.getProperties().setProperty(name, "x");
      DBException e = assertThrows(DBException.class, mongodb::init);
      assertTrue(e.getMessage().startsWith(name + "=x: "), e.getMessage());
    }
    for (String url : List.of("http://127.0.0.1:1", "mongodb://", "mongodb://h:x/ycsb")) {
      DB wrong = Clients.create("mongodb", 1, 500);
      wrong.getProperties().setProperty("mongodb.url", url);
      DBException e = assertThrows(DBException.class, wrong::init);
      assertTrue(e.getMessage().startsWith("mongodb.url=" + url + ": "), e.getMessage());
    }
    for (String name : List.of("riak.port", "riak.r_val", "riak.timeout", "riak.update")) {
      DB riak = Clients.create("riak", 1, 500);
      riak.getProperties().setProperty(name, "many");
      DBException e = assertThrows(DBException.class, riak::init);
      assertTrue(e.getMessage().startsWith(name + "=many: "), e.getMessage());
    }
    DB mysql = Clients.create("mysql", 1, 500);
    mysql.getProperties().setProperty("db.batchsize", "100");
    assertTrue(
        assertThrows(DBException.class, mysql::init).getMessage().contains("db.batchsize=100"));
    mysql.getProperties().remove("db.batchsize");
    for (String url : new String[] {"", "jdbc:mysql://a:1/x;jdbc:mysql://b:1/x", "jdbc:h2://a/x"}) {
      mysql.getProperties().setProperty("db.url", url);
      assertTrue(
          assertThrows(DBException.class, mysql::init).getMessage().contains("give one server"));
    }
  }

  /** Sends a text to the first connection as soon as it has sent something, then closes it. */
  private static void answer(ServerSocket server, String text) {
    Thread thread =
        new Thread(
            () -> {
              try (Socket socket = server.accept()) {
                socket.getInputStream().read();
                socket.getOutputStream().write(text.getBytes(US_ASCII));
                socket.getOutputStream().flush();
                socket.shutdownOutput();
                socket.getInputStream().readAllBytes();
              } catch (IOException e) {
                // The client left.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }
}
