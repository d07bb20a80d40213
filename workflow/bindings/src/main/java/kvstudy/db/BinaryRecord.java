package kvstudy.db;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/**
 * One record as YCSB's bindings for Riak and RocksDB write it: for each field name and value, each
 * behind its length in 4 bytes, the highest first.
 */
final class BinaryRecord {
  private BinaryRecord() {}

  /** Encodes all values; consumes the iterators. */
  static byte[] encode(Map<String, ByteIterator> values) {
    Map<byte[], byte[]> fields = new LinkedHashMap<>(2 * values.size());
    int size = 0;
    for (Map.Entry<String, ByteIterator> field : values.entrySet()) {
      byte[] name = field.getKey().getBytes(UTF_8);
      byte[] value = field.getValue().toArray();
      fields.put(name, value);
      size += 8 + name.length + value.length;
    }
    ByteBuffer record = ByteBuffer.allocate(size);
    fields.forEach(
        (name, value) -> record.putInt(name.length).put(name).putInt(value.length).put(value));
    return record.array();
  }

  /**
   * Puts the fields of a record into {@code result}.
   *
   * @param fields the fields to keep; null or empty keeps all
   * @throws IOException if the value is no such record; nothing is put then
   */
  static void decode(byte[] record, Set<String> fields, Map<String, ByteIterator> result)
      throws IOException {
    boolean all = fields == null || fields.isEmpty();
    Map<String, ByteIterator> decoded = new LinkedHashMap<>();
    ByteBuffer rest = ByteBuffer.wrap(record);
    try {
      while (rest.hasRemaining()) {
        String name = new String(part(rest), UTF_8);
        byte[] value = part(rest);
        if (all || fields.contains(name)) {
          decoded.put(name, new ByteArrayByteIterator(value));
        }
      }
    } catch (BufferUnderflowException e) {
      throw new IOException("the stored value is no record of YCSB: it ends in a field", e);
    }
    result.putAll(decoded);
  }

  /**
   * The record with the fields of another in place of its own.
   *
   * @throws IOException if one of them is no such record
   */
  static byte[] changed(byte[] record, byte[] other) throws IOException {
    Map<String, ByteIterator> decoded = new LinkedHashMap<>();
    decode(record, null, decoded);
    decode(other, null, decoded);
    return encode(decoded);
  }

  private static byte[] part(ByteBuffer rest) {
    int length = rest.getInt();
    if (length < 0 || length > rest.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] part = new byte[length];
    rest.get(part);
    return part;
  }
}
