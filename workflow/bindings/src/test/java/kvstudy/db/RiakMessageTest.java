package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RiakMessageTest {
  @Test
  void fieldsOfAllKindsComeBack() throws IOException {
    byte[] large = new byte[70_000];
    large[69_999] = 7;
    RiakMessage.Writer inner = new RiakMessage.Writer().number(3, 300).bytes(1, large);
    byte[] message = new RiakMessage.Writer().text(16, "ä").message(4, inner).toBytes();
    RiakMessage.Reader outer = new RiakMessage.Reader(message);
    assertEquals(16, outer.next());
    assertArrayEquals(new byte[] {(byte) 0xc3, (byte) 0xa4}, outer.bytes());
    assertEquals(4, outer.next());
    RiakMessage.Reader reader = new RiakMessage.Reader(outer.bytes());
    assertEquals(0, outer.next());
    assertEquals(3, reader.next());
    assertEquals(300, reader.number());
    assertEquals(1, reader.next());
    assertArrayEquals(large, reader.bytes());
    assertEquals(0, reader.next());
  }

  /** The examples of Protocol Buffers' own description, and the largest number. */
  @ParameterizedTest
  @CsvSource({"1, 150, 089601", "2, 0, 1000", "16, 127, 80017f", "1, 2147483647, 08ffffffff07"})
  void numbers(int field, int value, String hex) throws IOException {
    byte[] message = new RiakMessage.Writer().number(field, value).toBytes();
    assertEquals(hex, HexFormat.of().formatHex(message));
    RiakMessage.Reader reader = new RiakMessage.Reader(message);
    assertEquals(field, reader.next());
    assertEquals(value, reader.number());
  }

  @Test
  void negativeNumbersOfRiakAreTenBytes() throws IOException {
    byte[] message = HexFormat.of().parseHex("08fdffffffffffffffff01");
    RiakMessage.Reader reader = new RiakMessage.Reader(message);
    assertEquals(1, reader.next());
    assertEquals(-3, reader.number());
    assertEquals(0, reader.next());
  }

  @Test
  void fieldsThatNobodyAsksForAreSkipped() throws IOException {
    byte[] message =
        new RiakMessage.Writer().text(5, "meta").number(6, 1).text(1, "value").toBytes();
    RiakMessage.Reader reader = new RiakMessage.Reader(message);
    assertEquals(5, reader.next());
    assertEquals(6, reader.next());
    assertEquals(1, reader.next());
    assertEquals("value", new String(reader.bytes()));
  }

  /** A text of another protocol, ends in a field, sizes over the end, endless numbers. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "485454502f312e31",
        "0a",
        "0a05616263",
        "0affffffff0f61",
        "08",
        "0880",
        "08ffffffffffffffffffffff01",
        "00",
        "0d01020304"
      })
  void somethingElseIsAnError(String hex) {
    IOException e =
        assertThrows(
            IOException.class,
            () -> {
              RiakMessage.Reader reader = new RiakMessage.Reader(HexFormat.of().parseHex(hex));
              while (reader.next() != 0) {
                // Each value is skipped, which reads it.
              }
            });
    assertTrue(e.getMessage().startsWith("not a message of Riak"), e.getMessage());
  }

  @Test
  void aFieldOfAnotherKindIsAnError() throws IOException {
    RiakMessage.Reader reader =
        new RiakMessage.Reader(new RiakMessage.Writer().number(1, 1).toBytes());
    reader.next();
    assertThrows(IOException.class, reader::bytes);
  }
}
