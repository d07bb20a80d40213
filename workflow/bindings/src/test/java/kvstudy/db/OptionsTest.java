package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.DBException;

class OptionsTest {
  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, 127.0.0.1, 11211",
    "127.0.0.1:17, 127.0.0.1, 17",
    "db.example:65535, db.example, 65535",
    "[::1]:17, ::1, 17",
    "[::1], ::1, 11211"
  })
  void addresses(String text, String host, int port) throws DBException {
    InetSocketAddress address = Options.address(of(text), "name", "unused", 11211);
    assertEquals(host, address.getHostString());
    assertEquals(port, address.getPort());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ":17", "host:", "host:0", "host:65536", "host:x", "a:1,b:2", "::1"})
  void badAddressesNameThePropertyAndTheValue(String text) {
    DBException e =
        assertThrows(DBException.class, () -> Options.address(of(text), "name", "unused", 11211));
    assertTrue(e.getMessage().startsWith("name=" + text + ":"), e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "11", "-1", "x", "5.0", "99999999999"})
  void badNumbersNameThePropertyAndTheValue(String text) {
    DBException e =
        assertThrows(DBException.class, () -> Options.integer(of(text), "name", 5, 1, 10));
    assertTrue(e.getMessage().startsWith("name=" + text + ":"), e.getMessage());
  }

  @Test
  void defaults() throws DBException {
    assertEquals(5, Options.integer(new Properties(), "name", 5, 1, 10));
    assertEquals(7, Options.integer(of(" 7 "), "name", 5, 1, 10));
    assertEquals(
        "there:9",
        Options.address(new Properties(), "name", "there", 9).toString().split("/")[0] + ":9");
  }

  private static Properties of(String value) {
    Properties p = new Properties();
    p.setProperty("name", value);
    return p;
  }
}
