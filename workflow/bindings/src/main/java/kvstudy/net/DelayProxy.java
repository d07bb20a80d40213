package kvstudy.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SynchronizedHistogram;

/**
 * A way to a server on which each request takes longer: what a client sends is passed on after a
 * delay, what the server answers at once.
 *
 * <p>Pieces that follow each other closely do not wait for one another, so that a connection which
 * carries the requests of several threads is not slowed down further.
 *
 * <p>Arguments: host and port to listen at, host and port of the server, the delay in microseconds.
 * When it listens, it prints a line; when it is asked to end (SIGTERM), the delays that it really
 * made, from the reading of a piece to its writing: one line {@code <name> <value>} for each of
 * their number and, in microseconds, their mean and percentiles.
 */
public final class DelayProxy {
  static final String LISTENING = "listening";
  private static final double[] PERCENTS = {1, 5, 25, 50, 75, 95, 99};
  private static final int LARGEST_PIECE = 1 << 16;
  private static final byte[] END = {};

  private final Histogram delays = new SynchronizedHistogram(TimeUnit.MINUTES.toNanos(1), 3);
  private final String server;
  private final int port;
  private final long delay;

  private record Piece(long read, byte[] bytes) {}

  DelayProxy(String server, int port, long micros) {
    this.server = server;
    this.port = port;
    this.delay = TimeUnit.MICROSECONDS.toNanos(micros);
    delays.setAutoResize(true);
  }

  /** Listens until it is stopped. */
  public static void main(String[] words) throws IOException {
    DelayProxy proxy =
        new DelayProxy(words[2], Integer.parseInt(words[3]), Long.parseLong(words[4]));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.print(proxy.report())));
    InetAddress host = InetAddress.getByName(words[0]);
    try (ServerSocket listener = new ServerSocket(Integer.parseInt(words[1]), 0, host)) {
      System.out.println(LISTENING);
      while (true) {
        proxy.pass(listener.accept());
      }
    }
  }

  /** Connects the client with the server, in threads of their own. */
  void pass(Socket client) throws IOException {
    Socket target;
    try {
      target = new Socket(server, port);
    } catch (IOException e) {
      // To the client it is a server that cannot be reached.
      client.close();
      return;
    }
    client.setTcpNoDelay(true);
    target.setTcpNoDelay(true);
    BlockingQueue<Piece> waiting = new LinkedBlockingQueue<>();
    InputStream requests = client.getInputStream();
    OutputStream delayed = target.getOutputStream();
    start(() -> receive(requests, waiting));
    start(
        () -> {
          send(waiting, delayed);
          target.shutdownOutput();
        });
    start(
        () -> {
          try (client;
              target) {
            target.getInputStream().transferTo(client.getOutputStream());
          }
        });
  }

  private interface Job {
    void run() throws IOException, InterruptedException;
  }

  private static void start(Job job) {
    Thread thread =
        new Thread(
            () -> {
              try {
                job.run();
              } catch (IOException e) {
                // The end of a connection; the other side learns of it by its own.
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  private static void receive(InputStream requests, BlockingQueue<Piece> waiting) {
    byte[] buffer = new byte[LARGEST_PIECE];
    try {
      int length;
      while ((length = requests.read(buffer)) > 0) {
        waiting.add(new Piece(System.nanoTime(), Arrays.copyOf(buffer, length)));
      }
    } catch (IOException e) {
      // As if the client had closed it.
    }
    waiting.add(new Piece(0, END));
  }

  private void send(BlockingQueue<Piece> waiting, OutputStream delayed)
      throws IOException, InterruptedException {
    while (true) {
      Piece piece = waiting.take();
      if (piece.bytes == END) {
        return;
      }
      long left;
      while ((left = piece.read + delay - System.nanoTime()) > 0) {
        LockSupport.parkNanos(left);
      }
      delayed.write(piece.bytes);
      delays.recordValue(System.nanoTime() - piece.read);
    }
  }

  /** The delays so far. */
  String report() {
    StringBuilder text = new StringBuilder("pieces " + delays.getTotalCount() + "\n");
    if (delays.getTotalCount() > 0) {
      text.append("mean ").append(delays.getMean() / 1000).append('\n');
      for (double percent : PERCENTS) {
        double micros = delays.getValueAtPercentile(percent) / 1000.0;
        text.append(String.format("p%.0f ", percent)).append(micros).append('\n');
      }
    }
    return text.toString();
  }
}
