package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import site.ycsb.DBException;

class RefCountedTest {
  private final List<String> closed = new ArrayList<>();
  private final RefCounted<String, AutoCloseable> shared = new RefCounted<>(this::open);

  private AutoCloseable open(String settings) {
    return () -> closed.add(settings);
  }

  @Test
  void equalSettingsShareOneThatTheLastUserCloses() throws DBException {
    AutoCloseable first = shared.take("a");
    assertSame(first, shared.take("a"));
    assertNotSame(first, shared.take("b"));
    shared.release("a");
    assertEquals(List.of(), closed);
    shared.release("a");
    assertEquals(List.of("a"), closed);
    assertNotSame(first, shared.take("a"));
  }
}
