package kvstudy.db;

import java.util.Properties;
import site.ycsb.DBException;

/** Reads YCSB properties and names the property when its value is wrong. */
final class Options {
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
}
