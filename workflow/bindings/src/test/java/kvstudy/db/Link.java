package kvstudy.db;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A loopback port that forwards to a real server and can be cut, joined again, and frozen: for a
 * client, what a server does that is killed, started again, and stopped with SIGSTOP.
 */
final class Link implements Closeable {
  private final int target;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private ServerSocket listener;
  private final int port;
  private volatile boolean frozen;

  Link(int target) throws IOException {
    this.target = target;
    listener = listen(0);
    port = listener.getLocalPort();
  }

  int port() {
    return port;
  }

  /** Closes the port and all connections. */
  void cut() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
    sockets.clear();
  }

  void join() throws IOException {
    listener = listen(port);
  }

  /** Keeps connections open and accepts new ones, but forwards nothing. */
  void freeze(boolean on) {
    frozen = on;
  }

  @Override
  public void close() throws IOException {
    cut();
  }

  private ServerSocket listen(int at) throws IOException {
    ServerSocket socket = new ServerSocket();
    socket.setReuseAddress(true);
    socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), at));
    start(
        () -> {
          while (true) {
            Socket client = socket.accept();
            if (socket.isClosed()) { // accept may still return one that came while it was closing
              client.close();
              return;
            }
            Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
            sockets.addAll(List.of(client, server));
            start(() -> copy(client, server));
            start(() -> copy(server, client));
          }
        });
    return socket;
  }

  private void copy(Socket from, Socket to) throws IOException {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[8192];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (!frozen && !from.isClosed() && !to.isClosed()) {
          out.write(buffer, 0, n);
        }
      }
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void start(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException e) {
                // The link was cut.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }
}
