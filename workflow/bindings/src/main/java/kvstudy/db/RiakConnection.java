package kvstudy.db;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;

/**
 * One blocking connection that speaks the few messages of Riak's Protocol Buffers interface that
 * YCSB needs.
 *
 * <p>Own code, because Riak's own Java client is no longer maintained and hands every request to
 * two more threads: pom.xml has the figures.
 *
 * <p>Not safe for use by several threads. After any exception other than {@link Refused} the
 * connection is out of step with the server and must be closed.
 */
final class RiakConnection implements Closeable {
  private static final int ERROR = 0;
  private static final int GET = 9;
  private static final int PUT = 11;
  private static final int DELETE = 13;
  private static final int GET_BUCKET_TYPE = 31;

  /** The answer to a question about a bucket type has the code of that about a bucket. */
  private static final int BUCKET = 20;

  /** Riak refuses to store anything of that size; a longer answer is not one of Riak. */
  private static final int LONGEST = 100 << 20;

  /** The server understood the request and said why it did not serve it. */
  static final class Refused extends IOException {
    private static final long serialVersionUID = 1L;

    Refused(String answer) {
      super(answer);
    }
  }

  /** What a bucket type is made for. */
  record BucketType(int copies, boolean consistent) {}

  /**
   * What is stored under a key.
   *
   * @param version what a put or delete must name to replace it (Riak's vector clock)
   */
  record Fetched(byte[] value, byte[] version) {}

  private final Socket socket = new Socket();
  private final DataInputStream in;
  private final OutputStream out;

  /**
   * Connects.
   *
   * @param timeoutMillis limit for connecting and for each wait for an answer
   */
  RiakConnection(InetSocketAddress server, int timeoutMillis) throws IOException {
    try {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(timeoutMillis);
      // Resolved here, so that a server with a new address is found after a restart.
      socket.connect(
          new InetSocketAddress(server.getHostString(), server.getPort()), timeoutMillis);
      in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 16 * 1024));
      out = socket.getOutputStream();
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  /** The properties of an active bucket type; {@link Refused} if there is none of that name. */
  BucketType bucketType(String type) throws IOException {
    byte[] answer = ask(GET_BUCKET_TYPE, new RiakMessage.Writer().text(1, type), BUCKET);
    RiakMessage.Reader outer = new RiakMessage.Reader(answer);
    int copies = 0;
    boolean consistent = false;
    for (int outerField = outer.next(); outerField != 0; outerField = outer.next()) {
      if (outerField != 1) {
        continue;
      }
      RiakMessage.Reader properties = new RiakMessage.Reader(outer.bytes());
      for (int field = properties.next(); field != 0; field = properties.next()) {
        if (field == 1) {
          copies = (int) properties.number();
        } else if (field == 27) {
          consistent = properties.number() != 0;
        }
      }
    }
    if (copies < 1) {
      throw new IOException("the bucket type " + type + " has no n_val");
    }
    return new BucketType(copies, consistent);
  }

  /**
   * What is stored under a key, or null if there is nothing.
   *
   * @param readers how many copies must answer
   * @param head without the value, which is empty then
   */
  Fetched get(String type, String bucket, String key, int readers, boolean head)
      throws IOException {
    RiakMessage.Writer request =
        new RiakMessage.Writer().text(1, bucket).text(2, key).number(3, readers);
    if (head) {
      request.number(8, 1);
    }
    byte[] answer = ask(GET, request.text(13, type), GET + 1);
    RiakMessage.Reader reader = new RiakMessage.Reader(answer);
    byte[] content = null;
    byte[] version = null;
    for (int field = reader.next(); field != 0; field = reader.next()) {
      if (field == 1) {
        if (content != null) {
          throw new Refused("the record has siblings; its bucket type must have allow_mult false");
        }
        content = reader.bytes();
      } else if (field == 2) {
        version = reader.bytes();
      }
    }
    return content == null ? null : new Fetched(value(content), version);
  }

  /**
   * Stores a value and returns when {@code writers} copies have it.
   *
   * @param version the version that {@link #get} returned of the value to replace, or null
   */
  void put(String type, String bucket, String key, byte[] value, byte[] version, int writers)
      throws IOException {
    RiakMessage.Writer request = new RiakMessage.Writer().text(1, bucket).text(2, key);
    if (version != null) {
      request.bytes(3, version);
    }
    RiakMessage.Writer content =
        new RiakMessage.Writer().bytes(1, value).text(2, "application/octet-stream");
    ask(PUT, request.message(4, content).number(5, writers).text(16, type), PUT + 1);
  }

  /** Deletes the version of a key that {@link #get} told. */
  void delete(String type, String bucket, String key, byte[] version) throws IOException {
    RiakMessage.Writer request =
        new RiakMessage.Writer().text(1, bucket).text(2, key).bytes(4, version).text(13, type);
    ask(DELETE, request, DELETE + 1);
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // Nothing is left to do with this socket.
    }
  }

  private static byte[] value(byte[] content) throws IOException {
    RiakMessage.Reader reader = new RiakMessage.Reader(content);
    for (int field = reader.next(); field != 0; field = reader.next()) {
      if (field == 1) {
        return reader.bytes();
      }
    }
    throw new IOException("not an answer of Riak: content without a value");
  }

  /** Sends a request as one write and returns the message of the answer. */
  private byte[] ask(int code, RiakMessage.Writer request, int expected) throws IOException {
    byte[] message = request.toBytes();
    ByteBuffer packet = ByteBuffer.allocate(5 + message.length);
    out.write(packet.putInt(1 + message.length).put((byte) code).put(message).array());
    int length = in.readInt();
    if (length < 1 || length > LONGEST) {
      throw new IOException("not an answer of Riak: a message of " + length + " bytes");
    }
    int answered = in.readUnsignedByte();
    byte[] answer = new byte[length - 1];
    in.readFully(answer);
    if (answered == ERROR) {
      throw new Refused(reason(answer));
    }
    if (answered != expected) {
      throw new IOException("not the expected answer of Riak: code " + answered);
    }
    return answer;
  }

  private static String reason(byte[] error) throws IOException {
    RiakMessage.Reader reader = new RiakMessage.Reader(error);
    for (int field = reader.next(); field != 0; field = reader.next()) {
      if (field == 1) {
        return new String(reader.bytes(), UTF_8);
      }
    }
    return "an error without a message";
  }
}
