package kvstudy.db;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import site.ycsb.DBException;

/** Reads YCSB properties and names the property when its value is wrong. */
final class Options {
  private static final Pattern ADDRESS =
      Pattern.compile("(?:\\[([0-9A-Fa-f:.]+)]|([^\\s,:\\[\\]]+))(?::(\\d{1,5}))?");

  private Options() {}

  /** A whole number in {@code [min, max]}, or {@code fallback} when the property is not set. */
  static int integer(Properties p, String name, int fallback, int min, int max) throws DBException {
    String text = p.getProperty(name);
    if (text == null) {
      return fallback;
    }
    try {
      int value = Integer.parseInt(text.trim());
      if (value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      // reported below, together with numbers out of range
    }
    throw new DBException(
        String.format("%s=%s: give a whole number from %d to %d", name, text, min, max));
  }

  /** One of the words, the first of which is that of a property that is not set. */
  static String choice(Properties p, String name, String... words) throws DBException {
    String text = p.getProperty(name, words[0]);
    if (!List.of(words).contains(text)) {
      throw new DBException(
          String.format("%s=%s: give %s", name, text, String.join(" or ", words)));
    }
    return text;
  }

  /**
   * A {@code host}, {@code host:port} or {@code [IPv6]:port}, not resolved yet.
   *
   * @param fallback host to use when the property is not set
   * @param fallbackPort port to use when the property names none
   */
  static InetSocketAddress address(Properties p, String name, String fallback, int fallbackPort)
      throws DBException {
    String text = p.getProperty(name, fallback).trim();
    Matcher match = ADDRESS.matcher(text);
    if (match.matches()) {
      String host = match.group(1) == null ? match.group(2) : match.group(1);
      String port = match.group(3);
      int number = port == null ? fallbackPort : Integer.parseInt(port);
      if (number >= 1 && number <= 65535) {
        return InetSocketAddress.createUnresolved(host, number);
      }
    }
    throw new DBException(
        String.format("%s=%s: give one server as host:port, port 1 to 65535", name, text));
  }
}
