package kvstudy.db;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.internal.core.loadbalancing.DcInferringLoadBalancingPolicy;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.Slf4JLoggerFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import site.ycsb.Client;
import site.ycsb.DBException;

/**
 * A Cassandra server, with the one session that all client threads share.
 *
 * <p>The driver itself would look for a lost server less and less often, up to once a minute. Here
 * the session is thrown away, and the next operation opens another if somebody listens.
 */
final class CassandraServer implements AutoCloseable {
  static final RefCounted<Settings, CassandraServer> SHARED =
      new RefCounted<>(CassandraServer::new);

  static {
    // Of itself, Netty passes by slf4j's silent logger and prints warnings by java.util.logging.
    InternalLoggerFactory.setDefaultFactory(Slf4JLoggerFactory.INSTANCE);
  }

  private final Settings settings;
  private Connection connection;

  private CassandraServer(Settings settings) {
    this.settings = settings;
  }

  /** Everything that YCSB's properties say about the server. */
  record Settings(
      InetSocketAddress address,
      String keyspace,
      String user,
      String password,
      DefaultConsistencyLevel readConsistency,
      DefaultConsistencyLevel writeConsistency,
      int connections,
      Duration connectTimeout,
      Duration timeout) {

    static Settings of(Properties p) throws DBException {
      for (String name : List.of("cassandra.useSSL", "cassandra.tracing")) {
        if (Boolean.parseBoolean(p.getProperty(name))) {
          throw new DBException(name + "=true: not in this binding; use YCSB's own binding");
        }
      }
      int threads = Options.integer(p, Client.THREAD_COUNT_PROPERTY, 1, 1, Integer.MAX_VALUE);
      return new Settings(
          Options.address(p, "hosts", "127.0.0.1", Options.integer(p, "port", 9042, 1, 65535)),
          p.getProperty("cassandra.keyspace", "ycsb"),
          p.getProperty("cassandra.username", ""),
          p.getProperty("cassandra.password", ""),
          consistency(p, "cassandra.readconsistencylevel"),
          consistency(p, "cassandra.writeconsistencylevel"),
          Options.integer(p, "cassandra.coreconnections", threads, 1, 1024),
          millis(p, "cassandra.connecttimeoutmillis", 5000),
          millis(p, "cassandra.readtimeoutmillis", 12000));
    }

    private static Duration millis(Properties p, String name, int fallback) throws DBException {
      return Duration.ofMillis(Options.integer(p, name, fallback, 1, Integer.MAX_VALUE));
    }

    private static DefaultConsistencyLevel consistency(Properties p, String name)
        throws DBException {
      String text = p.getProperty(name, "QUORUM");
      try {
        return DefaultConsistencyLevel.valueOf(text.trim());
      } catch (IllegalArgumentException e) {
        throw new DBException(
            String.format("%s=%s: give a level such as ONE or QUORUM", name, text), e);
      }
    }
  }

  @Override
  public synchronized void close() {
    if (connection != null) {
      connection.session.close();
      connection = null;
    }
  }

  /** The open session, or a new one; fails within the time-outs. */
  synchronized Connection connection() throws IOException {
    if (connection == null) {
      connection = new Connection(settings);
    }
    return connection;
  }

  /** Throws the session away, unless another thread did and opened a new one. */
  synchronized void lost(Connection broken) {
    if (connection == broken) {
      connection = null;
      broken.session.forceCloseAsync();
    }
  }

  @Override
  public String toString() {
    return settings.address.getHostString() + ":" + settings.address.getPort();
  }

  /** A session and what was prepared in it. */
  static final class Connection {
    final CqlSession session;
    private final Settings settings;
    private final Map<CassandraStatement, PreparedStatement> prepared = new ConcurrentHashMap<>();

    private Connection(Settings settings) throws IOException {
      this.settings = settings;
      String host = settings.address.getHostString();
      InetSocketAddress address = new InetSocketAddress(host, settings.address.getPort());
      // To be refused takes the driver a hundred times as long as a socket.
      try (Socket socket = new Socket()) {
        socket.connect(address, (int) settings.connectTimeout.toMillis());
      }
      CqlSessionBuilder builder =
          CqlSession.builder()
              .addContactPoint(address)
              .withKeyspace('"' + settings.keyspace + '"')
              .withConfigLoader(config(settings));
      if (!settings.user.isEmpty()) {
        builder.withAuthCredentials(settings.user, settings.password);
      }
      session = builder.build();
    }

    PreparedStatement prepared(CassandraStatement.Kind kind, String table, Set<String> columns) {
      CassandraStatement key = new CassandraStatement(kind, table, columns);
      PreparedStatement known = prepared.get(key);
      if (known != null) {
        return known;
      }
      // With a copy: the caller's set may be a view of values that change.
      return prepared.computeIfAbsent(
          new CassandraStatement(kind, table, Set.copyOf(columns)),
          statement ->
              session.prepare(
                  SimpleStatement.newInstance(statement.cql())
                      .setConsistencyLevel(
                          statement.writes()
                              ? settings.writeConsistency
                              : settings.readConsistency)));
    }

    private static DriverConfigLoader config(Settings settings) {
      Duration connect = settings.connectTimeout;
      return DriverConfigLoader.programmaticBuilder()
          .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, settings.timeout)
          .withDuration(DefaultDriverOption.CONNECTION_CONNECT_TIMEOUT, connect)
          .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, connect)
          .withDuration(DefaultDriverOption.CONNECTION_SET_KEYSPACE_TIMEOUT, connect)
          .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, connect)
          .withInt(DefaultDriverOption.CONNECTION_POOL_LOCAL_SIZE, settings.connections)
          .withClass(
              DefaultDriverOption.LOAD_BALANCING_POLICY_CLASS, DcInferringLoadBalancingPolicy.class)
          // Neither the layout of the tables nor that of the ring is needed.
          .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, false)
          .withBoolean(DefaultDriverOption.METADATA_TOKEN_MAP_ENABLED, false)
          // As shipped, closing waits 2 s for late work, which YCSB counts as run time.
          .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, 0)
          .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, 0)
          .withBoolean(DefaultDriverOption.NETTY_DAEMON, true)
          .build();
    }
  }
}
