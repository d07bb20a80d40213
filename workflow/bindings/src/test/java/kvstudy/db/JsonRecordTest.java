package kvstudy.db;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.RandomByteIterator;
import site.ycsb.StringByteIterator;

class JsonRecordTest {
  @Test
  void writesTheTextThatYcsbsBindingWrites() {
    byte[] json = JsonRecord.encode(Map.of("field0", new StringByteIterator("a \"b\" \\ c")));
    assertEquals("{\"field0\":\"a \\\"b\\\" \\\\ c\"}", new String(json, UTF_8));
  }

  @Test
  void everyByteSurvives() throws IOException {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    Map<String, ByteIterator> record = new HashMap<>();
    record.put("all", new ByteArrayByteIterator(all));
    record.put("empty", new ByteArrayByteIterator(new byte[0]));
    Map<String, ByteIterator> back = decode(JsonRecord.encode(record), null);
    assertArrayEquals(all, back.get("all").toArray());
    assertArrayEquals(new byte[0], back.get("empty").toArray());
    assertEquals(2, back.size());
  }

  @Test
  void ycsbsRandomValuesSurvive() throws IOException {
    for (int length = 0; length < 300; length++) {
      byte[] value = new RandomByteIterator(length).toArray();
      byte[] json = JsonRecord.encode(Map.of("f", new ByteArrayByteIterator(value)));
      assertArrayEquals(value, decode(json, null).get("f").toArray());
    }
  }

  @Test
  void keepsOnlyTheNamedFields() throws IOException {
    byte[] json = "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}".getBytes(UTF_8);
    assertEquals(Set.of("a", "c"), decode(json, Set.of("a", "c", "absent")).keySet());
    assertEquals(Set.of("a", "b", "c"), decode(json, Set.of()).keySet());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[]", "text", "{\"a\":1}", "{\"a\":\"1\"", "{\"a\":{}}"})
  void somethingElseIsAnError(String text) {
    assertThrows(IOException.class, () -> decode(text.getBytes(UTF_8), null));
  }

  @Test
  void emptyRecord() throws IOException {
    assertTrue(decode(JsonRecord.encode(Map.of()), null).isEmpty());
  }

  private static Map<String, ByteIterator> decode(byte[] json, Set<String> fields)
      throws IOException {
    Map<String, ByteIterator> result = new HashMap<>();
    JsonRecord.decode(json, fields, result);
    return result;
  }
}
