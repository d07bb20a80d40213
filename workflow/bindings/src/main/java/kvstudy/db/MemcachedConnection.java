package kvstudy.db;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;

/**
 * One blocking connection that speaks Memcached's text protocol.
 *
 * <p>Own code, because the maintained Java drivers hand every request to an I/O thread and wait for
 * it. On two cores these two thread switches cost more than the request: pom.xml has the figures.
 */
final class MemcachedConnection implements MemcachedCommands {
  private static final int MAX_KEY = 250;
  private static final byte[] CRLF = {'\r', '\n'};

  private final Socket socket = new Socket();
  private final InputStream in;
  private final OutputStream out;

  /**
   * Connects.
   *
   * @param timeoutMillis limit for connecting and for each wait for an answer
   */
  MemcachedConnection(InetSocketAddress server, int timeoutMillis) throws IOException {
    try {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(timeoutMillis);
      // Resolved here, so that a server with a new address is found after a restart.
      socket.connect(
          new InetSocketAddress(server.getHostString(), server.getPort()), timeoutMillis);
      in = new BufferedInputStream(socket.getInputStream(), 16 * 1024);
      out = socket.getOutputStream();
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  @Override
  public String version() throws IOException {
    out.write("version\r\n".getBytes(US_ASCII));
    String answer = line();
    if (!answer.startsWith("VERSION ")) {
      throw unexpected(answer);
    }
    return answer.substring("VERSION ".length());
  }

  @Override
  public byte[] get(String key) throws IOException {
    send("get", key, "", null);
    String answer = line();
    if (answer.equals("END")) {
      return null;
    }
    if (!answer.startsWith("VALUE ")) {
      throw unexpected(answer);
    }
    int length = Integer.parseInt(answer.substring(answer.lastIndexOf(' ') + 1));
    byte[] value = in.readNBytes(length);
    if (value.length < length) {
      throw closed();
    }
    expect("");
    expect("END");
    return value;
  }

  @Override
  public boolean add(String key, int expiration, byte[] value) throws IOException {
    return store("add", key, expiration, value);
  }

  @Override
  public boolean replace(String key, int expiration, byte[] value) throws IOException {
    return store("replace", key, expiration, value);
  }

  @Override
  public boolean delete(String key) throws IOException {
    send("delete", key, "", null);
    return yes("DELETED", "NOT_FOUND");
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // Nothing is left to do with this socket.
    }
  }

  private boolean store(String command, String key, int expiration, byte[] value)
      throws IOException {
    send(command, key, " 0 " + expiration + " " + value.length, value);
    return yes("STORED", "NOT_STORED");
  }

  /** Sends a request as one write: two small ones would be two packets and two wake-ups. */
  private void send(String command, String key, String rest, byte[] value) throws IOException {
    byte[] name = key.getBytes(UTF_8);
    boolean valid = name.length > 0 && name.length <= MAX_KEY;
    for (int i = 0; valid && i < name.length; i++) {
      valid = name[i] < 0 || name[i] > ' ' && name[i] != 127;
    }
    if (!valid) {
      throw new Refused("key is empty, over 250 bytes, or has spaces or control characters");
    }
    byte[] head = (command + " ").getBytes(US_ASCII);
    byte[] tail = rest.getBytes(US_ASCII);
    int data = value == null ? 0 : value.length + 2;
    byte[] request = Arrays.copyOf(head, head.length + name.length + tail.length + 2 + data);
    int at = put(request, head.length, name);
    at = put(request, at, tail);
    at = put(request, at, CRLF);
    if (value != null) {
      put(request, put(request, at, value), CRLF);
    }
    out.write(request);
  }

  private static int put(byte[] request, int at, byte[] part) {
    System.arraycopy(part, 0, request, at, part.length);
    return at + part.length;
  }

  private boolean yes(String yes, String no) throws IOException {
    String answer = line();
    if (answer.equals(yes)) {
      return true;
    }
    if (answer.equals(no)) {
      return false;
    }
    throw unexpected(answer);
  }

  private void expect(String text) throws IOException {
    String answer = line();
    if (!answer.equals(text)) {
      throw unexpected(answer);
    }
  }

  private String line() throws IOException {
    StringBuilder text = new StringBuilder(40);
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw closed();
      }
      // Something else than Memcached listens there; do not collect its output for ever.
      if (text.length() > 1024) {
        throw new IOException("not an answer of Memcached: " + text.substring(0, 40) + "...");
      }
      text.append((char) c);
    }
    int end = text.length() - 1;
    return end >= 0 && text.charAt(end) == '\r' ? text.substring(0, end) : text.toString();
  }

  private static IOException unexpected(String answer) {
    // After SERVER_ERROR Memcached skips the data of the request and stays in step.
    return answer.startsWith("SERVER_ERROR")
        ? new Refused(answer)
        : new IOException("not the expected answer of Memcached: " + answer);
  }

  private static IOException closed() {
    return new EOFException("the server closed the connection");
  }
}
