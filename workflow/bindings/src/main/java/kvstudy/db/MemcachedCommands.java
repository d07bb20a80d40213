package kvstudy.db;

import java.io.Closeable;
import java.io.IOException;

/**
 * One connection to Memcached with the few commands that YCSB needs.
 *
 * <p>Not safe for use by several threads. After any exception other than {@link Refused} it must be
 * closed: it may be out of step with the server.
 */
interface MemcachedCommands extends Closeable {
  /** The server understood the request and said why it did not serve it. */
  final class Refused extends IOException {
    private static final long serialVersionUID = 1L;

    Refused(String answer) {
      super(answer);
    }
  }

  /** The version that the server reports. */
  String version() throws IOException;

  /** The value of a key, or null if there is none. */
  byte[] get(String key) throws IOException;

  /** Stores under a key that does not exist; false if it does. */
  boolean add(String key, int expiration, byte[] value) throws IOException;

  /** Replaces the value of an existing key; false if there is none. */
  boolean replace(String key, int expiration, byte[] value) throws IOException;

  /** Deletes a key; false if there is none. */
  boolean delete(String key) throws IOException;

  @Override
  void close();
}
