package kvstudy.db;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.ConnectionFactoryBuilder.Protocol;
import net.spy.memcached.ConnectionObserver;
import net.spy.memcached.FailureMode;
import net.spy.memcached.internal.OperationFuture;
import net.spy.memcached.ops.OperationStatus;

/**
 * A connection by spymemcached, the library of YCSB's own binding, in its version and with its
 * settings: each operation is handed to the connection's I/O thread and waited for.
 *
 * <p>Different from YCSB's binding: when the connection is lost, the operation fails at once.
 * There, spymemcached may keep it until it has connected again, or until the time-out. As there, an
 * update of a record of a million bytes or more fails: spymemcached's buffer is one byte too short.
 */
final class SpymemcachedConnection implements MemcachedCommands, ConnectionObserver {
  /** Of YCSB's binding, in bytes. */
  private static final int READ_BUFFER = 3_000_000;

  static {
    // As the other drivers; of itself it prints its steps on stderr.
    System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SLF4JLogger");
  }

  private final net.spy.memcached.MemcachedClient client;

  /** The operation that is waited for; read by the I/O thread. */
  private volatile Future<?> pending;

  private volatile boolean lost;

  /**
   * Connects.
   *
   * @param timeoutMillis limit for connecting and for each operation
   */
  SpymemcachedConnection(InetSocketAddress server, int timeoutMillis, Protocol protocol)
      throws IOException {
    // spymemcached would try again and again, in the background.
    try (MemcachedConnection probe = new MemcachedConnection(server, timeoutMillis)) {
      probe.version();
    }
    client =
        new net.spy.memcached.MemcachedClient(
            new ConnectionFactoryBuilder()
                .setReadBufferSize(READ_BUFFER)
                .setOpTimeout(timeoutMillis)
                .setProtocol(protocol)
                .setFailureMode(FailureMode.Redistribute)
                .setInitialObservers(List.of(this))
                .build(),
            List.of(new InetSocketAddress(server.getHostString(), server.getPort())));
  }

  @Override
  public String version() throws IOException {
    return client.getVersions().values().stream()
        .findFirst()
        .orElseThrow(() -> new IOException("no answer to version"));
  }

  @Override
  public byte[] get(String key) throws IOException {
    Object text = result(client.asyncGet(key));
    return text == null ? null : text.toString().getBytes(UTF_8);
  }

  @Override
  public boolean add(String key, int expiration, byte[] value) throws IOException {
    return yes(client.add(key, expiration, new String(value, UTF_8)));
  }

  @Override
  public boolean replace(String key, int expiration, byte[] value) throws IOException {
    return yes(client.replace(key, expiration, new String(value, UTF_8)));
  }

  @Override
  public boolean delete(String key) throws IOException {
    return yes(client.delete(key));
  }

  @Override
  public void close() {
    client.shutdown();
  }

  @Override
  public void connectionEstablished(SocketAddress server, int reconnects) {}

  @Override
  public void connectionLost(SocketAddress server) {
    lost = true;
    Future<?> operation = pending;
    if (operation != null) {
      operation.cancel(true);
    }
  }

  private <T> T result(Future<T> operation) throws IOException {
    pending = operation;
    if (lost) {
      operation.cancel(true);
    }
    try {
      return operation.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof CancellationException) {
        throw new IOException("the connection was lost", e);
      }
      throw new IOException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException();
    }
  }

  private boolean yes(OperationFuture<Boolean> operation) throws IOException {
    if (result(operation)) {
      return true;
    }
    OperationStatus status = operation.getStatus();
    return switch (status.getStatusCode()) {
      case ERR_NOT_STORED, ERR_EXISTS, ERR_NOT_FOUND -> false;
      default -> throw new Refused(status.getMessage());
    };
  }
}
