package kvstudy.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DelayProxyTest {
  private static final long MICROS = 20_000;
  private final ExecutorService pool = Executors.newCachedThreadPool();

  @AfterEach
  void end() {
    pool.shutdownNow();
  }

  private static ServerSocket listener() throws IOException {
    return new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
  }

  /** A server that sends back what it receives, and a client that reaches it by the proxy. */
  private Socket connected(ServerSocket server, ServerSocket front, DelayProxy proxy)
      throws IOException {
    pool.submit(
        () -> {
          try (Socket echo = server.accept()) {
            return echo.getInputStream().transferTo(echo.getOutputStream());
          }
        });
    Socket client = new Socket(front.getInetAddress(), front.getLocalPort());
    proxy.pass(front.accept());
    return client;
  }

  @Test
  void eachRequestTakesLongerByTheDelayAndArrivesWhole() throws Exception {
    try (ServerSocket server = listener();
        ServerSocket front = listener()) {
      DelayProxy proxy = new DelayProxy("127.0.0.1", server.getLocalPort(), MICROS);
      try (Socket client = connected(server, front, proxy)) {
        byte[] large = new byte[300_000];
        large[large.length - 1] = 7;
        long began = System.nanoTime();
        for (int trip = 0; trip < 5; trip++) {
          client.getOutputStream().write(trip);
          assertEquals(trip, client.getInputStream().read());
        }
        assertTrue(System.nanoTime() - began >= 5 * TimeUnit.MICROSECONDS.toNanos(MICROS));
        pool.submit(
            () -> {
              client.getOutputStream().write(large);
              return null;
            });
        assertArrayEquals(large, client.getInputStream().readNBytes(large.length));
        client.shutdownOutput();
        assertEquals(-1, client.getInputStream().read());
      }
      assertTrue(proxy.report().contains("\np50 2"), proxy.report());
    }
  }

  @Test
  void piecesDoNotWaitForOneAnother() throws Exception {
    try (ServerSocket server = listener();
        ServerSocket front = listener()) {
      DelayProxy proxy = new DelayProxy("127.0.0.1", server.getLocalPort(), MICROS);
      try (Socket client = connected(server, front, proxy)) {
        long began = System.nanoTime();
        for (int piece = 0; piece < 50; piece++) {
          client.getOutputStream().write(piece);
          TimeUnit.MILLISECONDS.sleep(1);
        }
        client.getInputStream().readNBytes(50);
        // One after the other they would take a second.
        assertTrue(System.nanoTime() - began < TimeUnit.MILLISECONDS.toNanos(500));
      }
    }
  }

  @Test
  void whereNoServerIsTheConnectionEnds() throws Exception {
    try (ServerSocket front = listener()) {
      ServerSocket server = listener();
      int port = server.getLocalPort();
      server.close();
      try (Socket client = new Socket(front.getInetAddress(), front.getLocalPort())) {
        new DelayProxy("127.0.0.1", port, MICROS).pass(front.accept());
        assertEquals(-1, client.getInputStream().read());
      }
    }
  }
}
