package kvstudy.db;

import java.util.Set;
import java.util.stream.Collectors;

/**
 * A statement that is prepared once: what it does, to which table, with which columns.
 *
 * @param columns the columns that it names besides the key; empty in a select means all
 */
record CassandraStatement(Kind kind, String table, Set<String> columns) {
  static final String KEY = "y_id";

  enum Kind {
    READ,
    SCAN,
    INSERT,
    UPDATE,
    DELETE
  }

  boolean writes() {
    return kind != Kind.READ && kind != Kind.SCAN;
  }

  /** The statement; its variables are named like their columns. */
  String cql() {
    return switch (kind) {
      case READ -> select() + " WHERE " + KEY + " = ? LIMIT 1";
      case SCAN -> select() + " WHERE token(" + KEY + ") >= token(?) LIMIT ?";
      case INSERT ->
          String.format(
              "INSERT INTO %s (%s, %s) VALUES (?%s)",
              quoted(table), KEY, list(""), ", ?".repeat(columns.size()));
      case UPDATE ->
          String.format("UPDATE %s SET %s WHERE %s = ?", quoted(table), list(" = ?"), KEY);
      case DELETE -> String.format("DELETE FROM %s WHERE %s = ?", quoted(table), KEY);
    };
  }

  private String select() {
    return "SELECT " + (columns.isEmpty() ? "*" : list("")) + " FROM " + quoted(table);
  }

  private String list(String suffix) {
    return columns.stream().map(name -> quoted(name) + suffix).collect(Collectors.joining(", "));
  }

  private static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }
}
