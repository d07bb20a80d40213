package kvstudy.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.Vector;
import kvstudy.db.Truncatable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;
import site.ycsb.WorkloadException;

class RoundsWorkloadTest {
  /** What all clients of the test hold and were asked for. */
  private static final Map<String, String> HELD = new HashMap<>();

  private static final List<String> ASKED = new ArrayList<>();

  @TempDir Path folder;

  /** A store in a map. */
  public static class Memory extends DB {
    @Override
    public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> to) {
      ASKED.add("read " + key);
      if (!HELD.containsKey(key)) {
        return Status.NOT_FOUND;
      }
      to.put("field0", new StringByteIterator(HELD.get(key)));
      return Status.OK;
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
      ASKED.add("insert " + key);
      assertEquals(Set.of("field0"), values.keySet());
      String before = HELD.put(key, values.get("field0").toString());
      return before == null ? Status.OK : Status.ERROR;
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
      throw new AssertionError("no round updates");
    }

    @Override
    public Status delete(String table, String key) {
      ASKED.add("delete " + key);
      return HELD.remove(key) == null ? Status.NOT_FOUND : Status.OK;
    }

    @Override
    public Status scan(
        String table,
        String start,
        int count,
        Set<String> fields,
        Vector<HashMap<String, ByteIterator>> result) {
      throw new AssertionError("no round scans");
    }
  }

  /** One that can be emptied at once. */
  public static class Emptied extends Memory implements Truncatable {
    @Override
    public Status empty(String table) {
      ASKED.add("empty " + table);
      HELD.clear();
      return Status.OK;
    }
  }

  /** One that loses its connection. */
  public static class Stubborn extends Memory implements Truncatable {
    @Override
    public Status empty(String table) {
      return Status.ERROR;
    }
  }

  @BeforeEach
  void again() {
    HELD.clear();
    ASKED.clear();
  }

  private Properties properties(int records, int reads, int deletes, int rounds) {
    Properties p = new Properties();
    p.setProperty("db", Emptied.class.getName());
    p.setProperty("recordcount", Integer.toString(records));
    p.setProperty("rounds.reads", Integer.toString(reads));
    p.setProperty("rounds.deletes", Integer.toString(deletes));
    p.setProperty("rounds.warmup", "1");
    p.setProperty("rounds.measured", Integer.toString(rounds - 1));
    p.setProperty("fieldcount", "1");
    p.setProperty("fieldlength", "3");
    p.setProperty("rounds.file", folder.resolve("rounds.csv").toString());
    int all = rounds * (records + reads + Math.min(records, deletes)) - records;
    p.setProperty("operationcount", Integer.toString(all));
    return p;
  }

  /**
   * Both phases, each in a workload of its own as in two clients; returns the lines of the file.
   */
  private List<String> run(Properties p) throws Exception {
    DB db = (DB) Class.forName(p.getProperty("db")).getDeclaredConstructor().newInstance();
    RoundsWorkload load = new RoundsWorkload();
    Properties loading = new Properties();
    loading.putAll(p);
    loading.setProperty("dotransactions", "false");
    load.init(loading);
    for (int i = 0; i < Integer.parseInt(p.getProperty("recordcount")); i++) {
      assertTrue(load.doInsert(db, null));
    }
    load.cleanup();
    RoundsWorkload run = new RoundsWorkload();
    run.init(p);
    for (int i = 0; i < Integer.parseInt(p.getProperty("operationcount")); i++) {
      assertTrue(run.doTransaction(db, null));
    }
    run.cleanup();
    return Files.readAllLines(Path.of(p.getProperty("rounds.file")));
  }

  @Test
  void thePatternTouches33KeysOfTheFirst200() {
    Set<Integer> keys = new TreeSet<>();
    for (int i = 0; i < 10_000; i++) {
      keys.add(RoundsWorkload.keyOfRead(i));
    }
    assertEquals(33, keys.size());
    // As the published loop gives them: i % 200 * i % 200 is i² modulo 200.
    assertEquals(1, RoundsWorkload.keyOfRead(0));
    assertEquals(2, RoundsWorkload.keyOfRead(1));
    assertEquals(26, RoundsWorkload.keyOfRead(15));
    assertEquals(1, RoundsWorkload.keyOfRead(20));
    assertEquals(1 + 9_999L * 9_999L % 200, RoundsWorkload.keyOfRead(9_999));
    assertEquals(Set.of(1), Set.copyOf(keys.stream().filter(key -> key < 2).toList()));
    assertTrue(keys.stream().allMatch(key -> key >= 1 && key <= 200));
  }

  @Test
  void aRoundInsertsReadsAndDeletes() throws Exception {
    List<String> lines = run(properties(2, 3, 5, 2));
    List<String> round =
        List.of("insert 1", "insert 2", "read 1", "read 2", "read 5", "delete 1", "delete 2");
    List<String> twice = new ArrayList<>(round);
    twice.add("empty usertable");
    twice.addAll(round);
    assertEquals(twice, ASKED);
    assertEquals(Map.of(), HELD);
    assertEquals(
        List.of(
            "round,operation,operations,ok",
            "1,read,3,2",
            "1,delete,2,2",
            "2,insert,2,2",
            "2,read,3,2",
            "2,delete,2,2"),
        lines.stream().map(line -> line.substring(0, line.lastIndexOf(','))).toList());
    for (String line : lines.subList(1, lines.size())) {
      assertTrue(Long.parseLong(line.substring(line.lastIndexOf(',') + 1)) > 0, line);
    }
  }

  @Test
  void whatTheDeletesLeaveIsEmptiedAtOnce() throws Exception {
    run(properties(3, 1, 1, 2));
    List<String> round = List.of("insert 1", "insert 2", "insert 3", "read 1", "delete 1");
    List<String> twice = new ArrayList<>(round);
    twice.add("empty usertable");
    twice.addAll(round);
    assertEquals(twice, ASKED);
  }

  @Test
  void aClientThatCannotEmptyDeletesTheRest() throws Exception {
    Properties p = properties(3, 1, 1, 2);
    p.setProperty("db", Memory.class.getName());
    List<String> lines = run(p);
    assertEquals(Set.of("2", "3"), HELD.keySet());
    assertEquals(2, ASKED.stream().filter(asked -> asked.matches("delete [23]")).count());
    // They are not among the counted ones.
    assertTrue(lines.get(2).startsWith("1,delete,1,1,"), lines.get(2));
  }

  @Test
  void aRecordIsItsKeyAndAConstant() throws Exception {
    Properties p = properties(2, 1, 2, 2);
    p.setProperty("dotransactions", "false");
    RoundsWorkload load = new RoundsWorkload();
    load.init(p);
    load.doInsert(new Memory(), null);
    load.doInsert(new Memory(), null);
    assertEquals(Map.of("1", "1xxx", "2", "2xxx"), HELD);
  }

  @Test
  void aTableThatCannotBeEmptiedEndsTheRun() {
    Properties p = properties(2, 1, 1, 2);
    p.setProperty("db", Stubborn.class.getName());
    Exception e = assertThrows(IllegalStateException.class, () -> run(p));
    assertTrue(e.getMessage().contains("could not be emptied"), e.getMessage());
  }

  @Test
  void wrongPropertiesAreRefused() {
    refused("threadcount", "2", "one thread");
    refused("fieldcount", "10", "one field");
    refused("operationcount", "7", "give that");
    refused("rounds.file", "", "name the file");
    refused("rounds.reads", "many", "rounds.reads=many: give a whole number from 1 on");
    refused("recordcount", "0", "recordcount=0: give a whole number from 1 on");
  }

  private void refused(String name, String value, String message) {
    Properties p = properties(2, 3, 5, 2);
    p.setProperty(name, value);
    Exception e = assertThrows(WorkloadException.class, () -> new RoundsWorkload().init(p));
    assertTrue(e.getMessage().contains(message), e.getMessage());
  }
}
