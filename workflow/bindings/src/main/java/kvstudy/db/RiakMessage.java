package kvstudy.db;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.Arrays;

/**
 * Protocol Buffers' wire format, as far as Riak's messages need it: fields that hold whole numbers,
 * bytes, or messages.
 *
 * <p>Own code, because a generated codec would need a compiler next to Maven and a runtime of 2 MB
 * for five messages of a few fields.
 */
final class RiakMessage {
  private static final int NUMBER = 0;
  private static final int BYTES = 2;

  private RiakMessage() {}

  /** Puts a message together. */
  static final class Writer {
    private byte[] buffer = new byte[256];
    private int length;

    Writer bytes(int field, byte[] value) {
      tag(field, BYTES);
      varint(value.length);
      return raw(value, value.length);
    }

    Writer text(int field, String value) {
      return bytes(field, value.getBytes(UTF_8));
    }

    /** A field that is a message itself. */
    Writer message(int field, Writer value) {
      tag(field, BYTES);
      varint(value.length);
      return raw(value.buffer, value.length);
    }

    /**
     * @param value not negative
     */
    Writer number(int field, int value) {
      tag(field, NUMBER);
      varint(value);
      return this;
    }

    byte[] toBytes() {
      return Arrays.copyOf(buffer, length);
    }

    private void tag(int field, int type) {
      varint(field << 3 | type);
    }

    private void varint(int value) {
      ensure(5);
      int rest = value;
      while (rest > 127) {
        buffer[length++] = (byte) (rest | 128);
        rest >>>= 7;
      }
      buffer[length++] = (byte) rest;
    }

    private Writer raw(byte[] value, int size) {
      ensure(size);
      System.arraycopy(value, 0, buffer, length, size);
      length += size;
      return this;
    }

    private void ensure(int more) {
      if (buffer.length - length < more) {
        buffer = Arrays.copyOf(buffer, Math.max(2 * buffer.length, length + more));
      }
    }
  }

  /**
   * Walks over the fields of a message. Each value is taken once, by {@link #bytes} or {@link
   * #number}; one that is not taken is skipped.
   */
  static final class Reader {
    private final byte[] message;
    private int at;
    private int type = -1;

    Reader(byte[] message) {
      this.message = message;
    }

    /** The number of the next field, or 0 at the end. */
    int next() throws IOException {
      if (type == NUMBER) {
        number();
      } else if (type == BYTES) {
        bytes();
      }
      if (at == message.length) {
        return 0;
      }
      int tag = (int) varint();
      type = tag & 7;
      if (type != NUMBER && type != BYTES || tag >>> 3 == 0) {
        throw new IOException("not a message of Riak: field tag " + tag);
      }
      return tag >>> 3;
    }

    long number() throws IOException {
      expect(NUMBER);
      return varint();
    }

    byte[] bytes() throws IOException {
      expect(BYTES);
      long size = varint();
      if (size < 0 || size > message.length - at) {
        throw new IOException("not a message of Riak: " + size + " bytes in its last field");
      }
      at += (int) size;
      return Arrays.copyOfRange(message, at - (int) size, at);
    }

    private void expect(int wanted) throws IOException {
      if (type != wanted) {
        throw new IOException("not a message of Riak: type " + type + " in place of " + wanted);
      }
      type = -1;
    }

    private long varint() throws IOException {
      long value = 0;
      for (int shift = 0; shift < 64; shift += 7) {
        if (at == message.length) {
          break;
        }
        byte part = message[at++];
        value |= (part & 127L) << shift;
        if (part >= 0) {
          return value;
        }
      }
      throw new IOException("not a message of Riak: a number without end");
    }
  }
}
