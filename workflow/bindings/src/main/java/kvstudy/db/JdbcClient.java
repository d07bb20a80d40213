package kvstudy.db;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB on MySQL, MariaDB and PostgreSQL, with the table of YCSB's own JDBC binding.
 *
 * <p>A record is a row: {@code YCSB_KEY} is the primary key, {@code FIELD0}, {@code FIELD1} ... (or
 * what the workload calls its fields) are TEXT columns, of PostgreSQL BYTEA. A field that a record
 * does not have is NULL. Each operation is one prepared statement that commits by itself.
 *
 * <ul>
 *   <li>read: SELECT of the whole row; fields are selected in the client
 *   <li>insert: INSERT; an existing key is an ERROR
 *   <li>update: UPDATE of the given columns, the others stay
 *   <li>delete: DELETE
 *   <li>scan: SELECT of whole rows in the order of the key, with LIMIT
 * </ul>
 *
 * <p>Different from YCSB's binding: update and delete of a missing record are NOT_FOUND (there
 * UNEXPECTED_STATE), values are bytes (no conversion to text), values are also returned when no
 * fields are named, a lost connection is an ERROR and the next operation connects again.
 *
 * <p>Properties: {@code db.url} (a {@code jdbc:} address of MariaDB's or PostgreSQL's driver; for
 * MySQL {@code jdbc:mysql://host:port/database?permitMysqlScheme}), {@code db.user} (root), {@code
 * db.passwd} (empty), {@code db.timeout} (ms for connecting and for each answer, 10000). Batches,
 * several servers and transactions are not supported.
 */
public class JdbcClient extends StoreClient<Connection> implements Truncatable {
  /** Named here: DriverManager would take any driver on the class path that knows the address. */
  private static final List<Driver> DRIVERS =
      List.of(new org.mariadb.jdbc.Driver(), new org.postgresql.Driver());

  private static final String KEY = "YCSB_KEY";
  private static final Pattern URL = Pattern.compile("jdbc:(\\w+)://([^/?;,]+)/[^;]*");

  /** What YCSB's binding can do and this one cannot, with the only value that is allowed. */
  private static final Map<String, String> FIXED =
      Map.of("jdbc.autocommit", "true", "jdbc.batchupdateapi", "false", "db.batchsize", "0");

  private final Properties login = new Properties();
  private String url;
  private Driver driver;

  /** What is around the name of a column. */
  private String quote;

  /** Statements of the connection by their text. */
  private final Map<String, PreparedStatement> statements = new HashMap<>();

  /** Names of the columns by statement; asking the driver for each row costs more than the row. */
  private final Map<PreparedStatement, String[]> columns = new HashMap<>();

  @Override
  String configure(Properties p) throws DBException {
    for (Map.Entry<String, String> fixed : FIXED.entrySet()) {
      String value = p.getProperty(fixed.getKey(), fixed.getValue());
      if (!value.equals(fixed.getValue())) {
        throw new DBException(
            fixed.getKey() + "=" + value + ": not supported here; use YCSB's own binding");
      }
    }
    url = p.getProperty("db.url", "");
    Matcher match = URL.matcher(url);
    driver = DRIVERS.stream().filter(one -> accepts(one, url)).findFirst().orElse(null);
    if (!match.matches() || driver == null) {
      throw new DBException("db.url=" + url + ": give one server as jdbc:mariadb://host:port/ycsb");
    }
    int timeout = Options.integer(p, "db.timeout", 10_000, 1, Integer.MAX_VALUE);
    login.setProperty("user", p.getProperty("db.user", "root"));
    login.setProperty("password", p.getProperty("db.passwd", ""));
    boolean postgresql = match.group(1).equals("postgresql");
    quote = postgresql ? "\"" : "`";
    // PostgreSQL's driver counts in seconds.
    int limit = postgresql ? (timeout + 999) / 1000 : timeout;
    login.setProperty("connectTimeout", Integer.toString(limit));
    login.setProperty("socketTimeout", Integer.toString(limit));
    // The server parses each statement once, not for each operation.
    login.setProperty("useServerPrepStmts", "true");
    login.setProperty("prepareThreshold", "1");
    // Bytes come back as they are stored, not converted from the table's character set.
    login.setProperty("sessionVariables", "character_set_results=NULL");
    return match.group(1) + " " + match.group(2);
  }

  @Override
  Connection connect() throws SQLException {
    return driver.connect(url, login);
  }

  @Override
  void close(Connection old) throws SQLException {
    statements.clear();
    columns.clear();
    old.close();
  }

  @Override
  String remedy() {
    return "start the server, or set db.url";
  }

  /** An SQL state of class 08 is a connection that failed, also one that timed out. */
  @Override
  boolean isLost(Exception e) {
    return !(e instanceof SQLException sql && sql.getSQLState() != null)
        || sql.getSQLState().startsWith("08");
  }

  @Override
  Status read(
      Connection to, String table, String key, Set<String> fields, Map<String, ByteIterator> result)
      throws Exception {
    PreparedStatement select = statement(to, "SELECT * FROM " + table + " WHERE " + KEY + " = ?");
    select.setString(1, key);
    try (ResultSet rows = select.executeQuery()) {
      if (!rows.next()) {
        return Status.NOT_FOUND;
      }
      take(select, rows, fields, result);
      return Status.OK;
    }
  }

  @Override
  Status insert(Connection to, String table, String key, Map<String, ByteIterator> values)
      throws Exception {
    String names = quote + String.join(quote + "," + quote, values.keySet()) + quote;
    String marks = String.join(",", Collections.nCopies(values.size() + 1, "?"));
    PreparedStatement insert =
        statement(
            to, "INSERT INTO " + table + " (" + names + "," + KEY + ") VALUES (" + marks + ")");
    insert.setString(setAll(insert, values), key);
    insert.executeUpdate();
    return Status.OK;
  }

  @Override
  Status update(Connection to, String table, String key, Map<String, ByteIterator> values)
      throws Exception {
    String changes = quote + String.join(quote + "=?," + quote, values.keySet()) + quote;
    PreparedStatement update =
        statement(to, "UPDATE " + table + " SET " + changes + "=? WHERE " + KEY + " = ?");
    update.setString(setAll(update, values), key);
    // The driver counts the rows that match, also those that have the values already.
    return update.executeUpdate() == 0 ? Status.NOT_FOUND : Status.OK;
  }

  @Override
  Status delete(Connection to, String table, String key) throws Exception {
    PreparedStatement delete = statement(to, "DELETE FROM " + table + " WHERE " + KEY + " = ?");
    delete.setString(1, key);
    return delete.executeUpdate() == 0 ? Status.NOT_FOUND : Status.OK;
  }

  @Override
  Status scan(
      Connection to,
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result)
      throws Exception {
    PreparedStatement select =
        statement(
            to,
            String.format("SELECT * FROM %s WHERE %s >= ? ORDER BY %s LIMIT ?", table, KEY, KEY));
    select.setString(1, startkey);
    select.setInt(2, recordcount);
    try (ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        HashMap<String, ByteIterator> record = new HashMap<>();
        take(select, rows, fields, record);
        result.add(record);
      }
    }
    return Status.OK;
  }

  /** TRUNCATE TABLE, which also starts the table's files again. */
  @Override
  Status empty(Connection to, String table) throws Exception {
    try (Statement truncate = to.createStatement()) {
      truncate.execute("TRUNCATE TABLE " + table);
    }
    return Status.OK;
  }

  /** Puts the row's fields into {@code result}: those named, or all but the key. */
  private void take(
      PreparedStatement select, ResultSet row, Set<String> fields, Map<String, ByteIterator> result)
      throws SQLException {
    if (fields != null && !fields.isEmpty()) {
      for (String field : fields) {
        put(field, row.getBytes(field), result);
      }
      return;
    }
    String[] names = columns.get(select);
    if (names == null) {
      names = fieldNames(row);
      columns.put(select, names);
    }
    for (int i = 0; i < names.length; i++) {
      if (names[i] != null) {
        put(names[i], row.getBytes(i + 1), result);
      }
    }
  }

  private static void put(String field, byte[] value, Map<String, ByteIterator> result) {
    if (value != null) {
      result.put(field, new ByteArrayByteIterator(value));
    }
  }

  /** YCSB's name of each column, null for the key. */
  private static String[] fieldNames(ResultSet row) throws SQLException {
    String[] names = new String[row.getMetaData().getColumnCount()];
    for (int i = 0; i < names.length; i++) {
      String column = row.getMetaData().getColumnLabel(i + 1);
      names[i] = column.equalsIgnoreCase(KEY) ? null : column.toLowerCase(Locale.ROOT);
    }
    return names;
  }

  /** Sets the values as the first parameters; returns the position of the next one. */
  private static int setAll(PreparedStatement statement, Map<String, ByteIterator> values)
      throws SQLException {
    int position = 1;
    for (ByteIterator value : values.values()) {
      statement.setBytes(position++, value.toArray());
    }
    return position;
  }

  private PreparedStatement statement(Connection to, String sql) throws SQLException {
    PreparedStatement statement = statements.get(sql);
    if (statement == null) {
      statement = to.prepareStatement(sql);
      statements.put(sql, statement);
    }
    return statement;
  }

  private static boolean accepts(Driver driver, String url) {
    try {
      return driver.acceptsURL(url);
    } catch (SQLException e) {
      return false;
    }
  }
}
