package kvstudy.db;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
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
import site.ycsb.StringByteIterator;

class BinaryRecordTest {
  /** What RiakUtils.serializeTable of YCSB's own binding makes of the same record. */
  private static final String YCSBS = "\0\0\0\6field0\0\0\0\3one";

  @Test
  void writesTheBytesThatYcsbsBindingWrites() {
    byte[] record = BinaryRecord.encode(Map.of("field0", new StringByteIterator("one")));
    assertEquals(YCSBS, new String(record, ISO_8859_1));
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
    Map<String, ByteIterator> back = decode(BinaryRecord.encode(record), null);
    assertArrayEquals(all, back.get("all").toArray());
    assertArrayEquals(new byte[0], back.get("empty").toArray());
    assertEquals(2, back.size());
    assertTrue(decode(BinaryRecord.encode(Map.of()), null).isEmpty());
  }

  @Test
  void keepsOnlyTheNamedFields() throws IOException {
    byte[] record = (YCSBS + "\0\0\0\1b\0\0\0\1x").getBytes(ISO_8859_1);
    assertEquals(Set.of("b"), decode(record, Set.of("b", "absent")).keySet());
    assertEquals(Set.of("field0", "b"), decode(record, Set.of()).keySet());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "no record",
        "\0",
        "\0\0\0\1a",
        "\0\0\0\1a\0\0\0\2b",
        "\0\0\0\6field0\0\0\0\3one\0",
        "\u00ff\u00ff\u00ff\u00ffa"
      })
  void somethingElseIsAnErrorAndGivesNothing(String text) {
    Map<String, ByteIterator> result = new HashMap<>();
    assertThrows(
        IOException.class, () -> BinaryRecord.decode(text.getBytes(ISO_8859_1), null, result));
    assertTrue(result.isEmpty());
  }

  private static Map<String, ByteIterator> decode(byte[] record, Set<String> fields)
      throws IOException {
    Map<String, ByteIterator> result = new HashMap<>();
    BinaryRecord.decode(record, fields, result);
    return result;
  }
}
