package kvstudy.db;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/**
 * One record as one JSON object in UTF-8, field name to string.
 *
 * <p>A byte of a value is the character with the same number (ISO 8859-1), so that any bytes
 * survive and YCSB's usual printable ASCII values read as they are.
 */
final class JsonRecord {
  private static final JsonFactory JSON = new JsonFactory();

  private JsonRecord() {}

  /** Encodes all values; consumes the iterators. */
  static byte[] encode(Map<String, ByteIterator> values) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(2048);
    try (JsonGenerator json = JSON.createGenerator(out)) {
      json.writeStartObject();
      for (Map.Entry<String, ByteIterator> field : values.entrySet()) {
        json.writeFieldName(field.getKey());
        json.writeString(new String(field.getValue().toArray(), ISO_8859_1));
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("writing into memory does not fail", e);
    }
    return out.toByteArray();
  }

  /**
   * Puts the fields of a record into {@code result}.
   *
   * @param fields the fields to keep; null or empty keeps all
   * @throws IOException if the value is no JSON object of strings
   */
  static void decode(byte[] record, Set<String> fields, Map<String, ByteIterator> result)
      throws IOException {
    boolean all = fields == null || fields.isEmpty();
    try (JsonParser json = JSON.createParser(record)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("the stored value is no JSON object");
      }
      for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
        if (json.nextToken() != JsonToken.VALUE_STRING) {
          throw new IOException("field " + name + " of the stored value is no string");
        }
        if (all || fields.contains(name)) {
          result.put(name, new ByteArrayByteIterator(json.getText().getBytes(ISO_8859_1)));
        }
      }
      if (json.currentToken() != JsonToken.END_OBJECT) {
        throw new IOException("the stored value is no complete JSON object");
      }
    }
  }
}
