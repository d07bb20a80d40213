package kvstudy.db;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/** The messages of the binding, byte by byte, against those that a real node has answered. */
class RiakConnectionTest {
  private static final Path RECORDED = Path.of("../../tests/data/riak/exchanges.txt");
  private static final String TYPE = "ycsb_strong";
  private static final String BUCKET = "usertable";
  private static final String KEY = "user1";

  private record Exchange(byte[] question, byte[] answer) {}

  private final Map<String, Exchange> recorded = new HashMap<>();
  private ServerSocket server;

  @BeforeEach
  void readRecorded() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    for (String part : Files.readString(RECORDED).split("\n# ")) {
      List<String> lines = part.lines().toList();
      recorded.put(lines.get(0), new Exchange(bytes(lines, "> "), bytes(lines, "< ")));
    }
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  private static byte[] bytes(List<String> lines, String mark) {
    StringBuilder hex = new StringBuilder();
    for (String line : lines) {
      if (line.startsWith(mark)) {
        hex.append(line.substring(mark.length()));
      }
    }
    return hex.toString().matches("[0-9a-f]+") ? HexFormat.of().parseHex(hex) : new byte[0];
  }

  /** Answers one connection with the named exchanges, in their order; closes it at another one. */
  private void serve(String... names) {
    Thread thread =
        new Thread(
            () -> {
              try (Socket client = server.accept()) {
                DataInputStream in = new DataInputStream(client.getInputStream());
                for (String name : names) {
                  Exchange exchange = recorded.get(name);
                  byte[] question = in.readNBytes(exchange.question().length);
                  assertArrayEquals(exchange.question(), question, name);
                  client.getOutputStream().write(exchange.answer());
                }
                in.readAllBytes();
              } catch (IOException e) {
                // The client left.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  private RiakConnection connected(String... names) throws IOException {
    serve(names);
    return new RiakConnection(
        new InetSocketAddress("127.0.0.1", server.getLocalPort()), /* timeoutMillis= */ 2000);
  }

  @Test
  void bucketTypes() throws IOException {
    try (RiakConnection riak =
        connected("type of eventual consistency", "type of strong consistency", "unknown type")) {
      assertEquals(new RiakConnection.BucketType(1, false), riak.bucketType("ycsb_eventual"));
      assertEquals(new RiakConnection.BucketType(1, true), riak.bucketType("ycsb_strong"));
      assertEquals(
          "Invalid bucket type: <<\"nosuch\">>",
          assertThrows(RiakConnection.Refused.class, () -> riak.bucketType("nosuch")).getMessage());
    }
  }

  @Test
  void theLifeOfARecordWithStrongConsistency() throws IOException {
    try (RiakConnection riak =
        connected(
            "get of nothing",
            "put",
            "get",
            "put without the version of what is there",
            "put with a version",
            "put with an old version",
            "get of the version only",
            "delete")) {
      byte[] one = "one".getBytes(US_ASCII);
      byte[] two = "two".getBytes(US_ASCII);
      assertNull(riak.get(TYPE, BUCKET, KEY, 1, false));
      riak.put(TYPE, BUCKET, KEY, one, null, 1);
      RiakConnection.Fetched fetched = riak.get(TYPE, BUCKET, KEY, 1, false);
      assertArrayEquals(one, fetched.value());
      refused(riak, two, null);
      riak.put(TYPE, BUCKET, KEY, two, fetched.version(), 1);
      refused(riak, two, fetched.version());
      RiakConnection.Fetched head = riak.get(TYPE, BUCKET, KEY, 1, true);
      assertEquals(0, head.value().length);
      riak.delete(TYPE, BUCKET, KEY, head.version());
    }
  }

  private static void refused(RiakConnection riak, byte[] value, byte[] version) {
    RiakConnection.Refused e =
        assertThrows(
            RiakConnection.Refused.class, () -> riak.put(TYPE, BUCKET, KEY, value, version, 1));
    assertEquals("failed", e.getMessage());
  }

  @Test
  void moreCopiesThanThereAreAreRefused() throws IOException {
    try (RiakConnection riak = connected("more copies than there are")) {
      RiakConnection.Refused e =
          assertThrows(
              RiakConnection.Refused.class, () -> riak.get("ycsb_eventual", BUCKET, KEY, 2, false));
      assertEquals("{n_val_violation,1}", e.getMessage());
    }
  }

  @Test
  void theServersWordIsTheStatus() {
    assertEquals("FAILED", RiakClient.refusal("failed").getName());
    assertEquals("TIMEOUT", RiakClient.refusal("timeout").getName());
    assertEquals("UNAVAILABLE", RiakClient.refusal("unavailable").getName());
    assertEquals("N_VAL_VIOLATION", RiakClient.refusal("{n_val_violation,1}").getName());
    assertEquals("UNKNOWN_MESSAGE_CODE", RiakClient.refusal("Unknown message code: 9").getName());
    assertEquals(40, RiakClient.refusal("x".repeat(400)).getName().length());
    assertEquals(Status.ERROR, RiakClient.refusal(""));
    assertEquals(Status.ERROR, RiakClient.refusal("ok"));
    assertEquals(Status.ERROR, RiakClient.refusal("{1,2}"));
  }

  /** The recorded question asks for one copy, as many as there are; the default is two. */
  @Test
  void anUpdateLooksForTheRecordFirst() throws DBException {
    serve("type of strong consistency", "get of nothing");
    DB db = client(TYPE);
    db.init();
    assertEquals(Status.NOT_FOUND, db.update(BUCKET, KEY, new HashMap<>()));
    db.cleanup();
  }

  @Test
  void aTypeThatIsNotThereIsToldWithWhatToDo() {
    serve("unknown type");
    DBException e = assertThrows(DBException.class, () -> client("nosuch").init());
    assertTrue(
        e.getMessage().matches("riak.bucket_type=nosuch: the server says 'Inv.*; create and .*"),
        e.getMessage());
  }

  @Test
  void aBlindPutOnAStrongTypeIsRefusedAtOnce() {
    serve("type of strong consistency");
    DB db = client(TYPE);
    db.getProperties().setProperty("riak.update", "put");
    DBException e = assertThrows(DBException.class, db::init);
    assertTrue(e.getMessage().startsWith("riak.update=put: ycsb_strong is"), e.getMessage());
  }

  private DB client(String type) {
    DB db = Clients.create("riak", server.getLocalPort(), 2000);
    db.getProperties().setProperty("riak.bucket_type", type);
    return db;
  }

  @Test
  void answersThatAreNone() throws IOException {
    for (String hex :
        List.of(
            "00000000",
            "ffffffff09",
            "0000000163",
            "000000030a0a05",
            "000000050a0a021200",
            "000000020a",
            "")) {
      Exchange question = recorded.get("get of nothing");
      recorded.put("bad", new Exchange(question.question(), HexFormat.of().parseHex(hex)));
      serveAndClose("bad");
      try (RiakConnection riak =
          new RiakConnection(new InetSocketAddress("127.0.0.1", server.getLocalPort()), 2000)) {
        assertThrows(IOException.class, () -> riak.get(TYPE, BUCKET, KEY, 1, false), hex);
      }
    }
  }

  private void serveAndClose(String name) {
    Exchange exchange = recorded.get(name);
    Thread thread =
        new Thread(
            () -> {
              try (Socket client = server.accept()) {
                client.getInputStream().readNBytes(exchange.question().length);
                client.getOutputStream().write(exchange.answer());
              } catch (IOException e) {
                // The client left.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  /** One of the two that concurrent writers left behind would be read by chance. */
  @Test
  void siblingsAreRefused() throws IOException {
    byte[] answer = recorded.get("get").answer();
    ByteArrayOutputStream twice = new ByteArrayOutputStream();
    twice.write(new byte[] {0, 0, 0, (byte) (1 + 2 * (answer.length - 5))});
    twice.write(answer, 4, answer.length - 4);
    twice.write(answer, 5, answer.length - 5);
    recorded.put("siblings", new Exchange(recorded.get("get").question(), twice.toByteArray()));
    try (RiakConnection riak = connected("siblings")) {
      RiakConnection.Refused e =
          assertThrows(RiakConnection.Refused.class, () -> riak.get(TYPE, BUCKET, KEY, 1, false));
      assertTrue(e.getMessage().contains("allow_mult"), e.getMessage());
    }
  }
}
