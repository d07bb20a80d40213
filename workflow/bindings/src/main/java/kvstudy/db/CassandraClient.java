package kvstudy.db;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.connection.HeartbeatException;
import com.datastax.oss.driver.api.core.cql.BoundStatementBuilder;
import com.datastax.oss.driver.api.core.cql.ColumnDefinitions;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import kvstudy.db.CassandraStatement.Kind;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB on Cassandra, with the layout and the statements of YCSB's own binding.
 *
 * <p>The keyspace has to be there, with a table of text columns: the key {@code y_id} and one for
 * each field. All statements are prepared; all client threads share one session.
 *
 * <ul>
 *   <li>read: SELECT by the key
 *   <li>insert: INSERT; the fields of an existing row are overwritten
 *   <li>update: UPDATE of the given fields; a missing row is <em>created</em>
 *   <li>delete: DELETE; Cassandra does not show whether there was a row, so it is always OK
 *   <li>scan: SELECT of the rows whose token (a hash of the key) is at least that of the start key
 * </ul>
 *
 * <p>Different from YCSB's binding: a result has neither the key nor fields without a value. Both
 * write a byte of a value as the character with the same number (ISO 8859-1); this one turns it
 * back when it reads, so that any bytes survive. A lost connection is an ERROR and the next
 * operation connects again.
 *
 * <p>Properties: {@code hosts} (127.0.0.1; one server), {@code port} (9042), {@code
 * cassandra.keyspace} (ycsb), {@code cassandra.username}, {@code cassandra.password}, {@code
 * cassandra.readconsistencylevel}, {@code cassandra.writeconsistencylevel} (QUORUM), {@code
 * cassandra.coreconnections} (as many as client threads), {@code cassandra.connecttimeoutmillis}
 * (5000), {@code cassandra.readtimeoutmillis} (12000: longer than all time-outs of the server).
 */
public class CassandraClient extends StoreClient<CassandraServer.Connection> {
  private CassandraServer.Settings settings;
  private CassandraServer server;

  @Override
  String configure(Properties p) throws DBException {
    settings = CassandraServer.Settings.of(p);
    server = CassandraServer.SHARED.take(settings);
    return "cassandra " + server;
  }

  @Override
  CassandraServer.Connection connect() throws IOException {
    return server.connection();
  }

  @Override
  void close(CassandraServer.Connection broken) {
    server.lost(broken);
  }

  @Override
  String remedy() {
    return "start the server and create the keyspace, or set hosts and port";
  }

  /** False when another thread has lost the session. */
  @Override
  boolean isOpen(CassandraServer.Connection last) {
    return !last.session.isClosed();
  }

  /** Also after a time-out: the driver hands a failed preparation to whoever asks again at once. */
  @Override
  boolean isLost(Exception e) {
    return e instanceof AllNodesFailedException
        || e instanceof ClosedConnectionException
        || e instanceof DriverTimeoutException
        || e instanceof HeartbeatException;
  }

  /** The session stays open for the other threads. */
  @Override
  public void cleanup() throws DBException {
    if (server != null) {
      server = null;
      CassandraServer.SHARED.release(settings);
    }
  }

  @Override
  Status read(
      CassandraServer.Connection to,
      String table,
      String key,
      Set<String> fields,
      Map<String, ByteIterator> result) {
    BoundStatementBuilder select =
        to.prepared(Kind.READ, table, named(fields)).boundStatementBuilder();
    Row row = to.session.execute(select.setBytesUnsafe(0, text(key)).build()).one();
    if (row == null) {
      return Status.NOT_FOUND;
    }
    collect(row, result);
    return Status.OK;
  }

  @Override
  Status scan(
      CassandraServer.Connection to,
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    BoundStatementBuilder select =
        to.prepared(Kind.SCAN, table, named(fields)).boundStatementBuilder();
    select.setBytesUnsafe(0, text(startkey)).setInt(1, recordcount);
    for (Row row : to.session.execute(select.build())) {
      HashMap<String, ByteIterator> record = new HashMap<>();
      collect(row, record);
      result.add(record);
    }
    return Status.OK;
  }

  @Override
  Status insert(
      CassandraServer.Connection to, String table, String key, Map<String, ByteIterator> values) {
    return write(to, Kind.INSERT, table, key, values);
  }

  @Override
  Status update(
      CassandraServer.Connection to, String table, String key, Map<String, ByteIterator> values) {
    return write(to, Kind.UPDATE, table, key, values);
  }

  @Override
  Status delete(CassandraServer.Connection to, String table, String key) {
    return write(to, Kind.DELETE, table, key, Map.of());
  }

  private static Status write(
      CassandraServer.Connection to,
      Kind kind,
      String table,
      String key,
      Map<String, ByteIterator> values) {
    PreparedStatement statement = to.prepared(kind, table, values.keySet());
    ColumnDefinitions variables = statement.getVariableDefinitions();
    BoundStatementBuilder bound = statement.boundStatementBuilder();
    for (int i = 0; i < variables.size(); i++) {
      String name = variables.get(i).getName().asInternal();
      boolean isKey = name.equals(CassandraStatement.KEY);
      bound.setBytesUnsafe(i, isKey ? text(key) : encode(values.get(name).toArray()));
    }
    to.session.execute(bound.build());
    return Status.OK;
  }

  private static Set<String> named(Set<String> fields) {
    return fields == null ? Set.of() : fields;
  }

  private static void collect(Row row, Map<String, ByteIterator> result) {
    ColumnDefinitions columns = row.getColumnDefinitions();
    for (int i = 0; i < columns.size(); i++) {
      String name = columns.get(i).getName().asInternal();
      ByteBuffer value = row.getBytesUnsafe(i);
      if (value != null && !name.equals(CassandraStatement.KEY)) {
        byte[] bytes = new byte[value.remaining()];
        value.get(bytes);
        result.put(name, new ByteArrayByteIterator(decode(bytes)));
      }
    }
  }

  private static ByteBuffer text(String text) {
    return ByteBuffer.wrap(text.getBytes(UTF_8));
  }

  /** A value as a text column holds it; ASCII, which is all that YCSB sends, stays as it is. */
  static ByteBuffer encode(byte[] value) {
    return ByteBuffer.wrap(isAscii(value) ? value : new String(value, ISO_8859_1).getBytes(UTF_8));
  }

  /** The bytes that {@link #encode} made a text of. */
  static byte[] decode(byte[] text) {
    return isAscii(text) ? text : new String(text, UTF_8).getBytes(ISO_8859_1);
  }

  private static boolean isAscii(byte[] bytes) {
    for (byte b : bytes) {
      if (b < 0) {
        return false;
      }
    }
    return true;
  }
}
