package kvstudy.workload;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kvstudy.db.Truncatable;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;
import site.ycsb.Workload;
import site.ycsb.WorkloadException;

/**
 * The same short test again and again: a number of <em>rounds</em>, of which the first ones warm up
 * client and server.
 *
 * <p>A round puts {@code recordcount} records into an empty table, reads {@code rounds.reads} times
 * in a fixed pattern that touches 33 keys, and deletes the first {@code rounds.deletes} records (or
 * all, if there are fewer). The load phase is the inserting of the first round; the run phase is
 * all the rest, one YCSB operation after the other, so {@code operationcount} is their sum. Reads
 * of keys that are not there count, as failed ones.
 *
 * <p>Between two rounds the table is emptied: in one command where the client is {@link
 * Truncatable}, else by deleting what is left. No latency contains it, but YCSB's run time does.
 *
 * <p>A record is one field: its key and {@code fieldlength} letters (100). Keys are the numbers
 * from 1 on.
 *
 * <p>YCSB's own results have all rounds together. {@code rounds.file} gets one line for each round
 * and operation: how many there were, how many of them were OK, and the sum of their latencies in
 * ns. That sum contains no connecting and nothing that the client does between two operations.
 *
 * <p>Properties besides: {@code rounds.warmup} (3), {@code rounds.measured} (5). One thread.
 */
public class RoundsWorkload extends Workload {
  static final String FIELD = "field0";

  /** The parts of a round, in their order. */
  private enum Part {
    INSERT,
    READ,
    DELETE
  }

  private final List<String> lines = new ArrayList<>(List.of("round,operation,operations,ok,ns"));
  private Properties properties;
  private String table;
  private String text;
  private int records;
  private int reads;
  private int deletes;
  private int rounds;
  private Path file;

  private int loaded;
  private int round = 1;
  // The load phase has done the first part of the first round.
  private Part part = Part.READ;
  private int done;
  private int ok;
  private long nanoseconds;
  private DB truncatingClient;

  /**
   * Which key the read with this number (from 0 on) is for: a simple pseudo-random pattern. It is 1
   * + i² mod 200, so it has as many keys as there are squares modulo 200.
   */
  static int keyOfRead(int i) {
    return 1 + i % 200 * i % 200;
  }

  @Override
  public void init(Properties p) throws WorkloadException {
    properties = p;
    table = p.getProperty("table", "usertable");
    records = whole(p, "recordcount", "0", 1);
    reads = whole(p, "rounds.reads", "10000", 1);
    deletes = Math.min(records, whole(p, "rounds.deletes", "10000", 1));
    text = "x".repeat(whole(p, "fieldlength", "100", 0));
    if (whole(p, "threadcount", "1", 1) != 1) {
      throw new WorkloadException("threadcount: the rounds have one thread; leave it out");
    }
    if (whole(p, "fieldcount", "10", 1) != 1) {
      throw new WorkloadException("fieldcount: a record of the rounds is one field; give 1");
    }
    if (Boolean.parseBoolean(p.getProperty("dotransactions", "true"))) {
      String name = p.getProperty("rounds.file", "");
      if (name.isEmpty()) {
        throw new WorkloadException("rounds.file: name the file for the sums of latencies");
      }
      file = Path.of(name);
      rounds = whole(p, "rounds.warmup", "3", 0) + whole(p, "rounds.measured", "5", 1);
      long all = (long) rounds * (records + reads + deletes) - records;
      if (!p.getProperty("operationcount", "").equals(Long.toString(all))) {
        throw new WorkloadException("operationcount: the rounds have " + all + "; give that");
      }
    }
  }

  private static int whole(Properties p, String name, String fallback, int min)
      throws WorkloadException {
    String value = p.getProperty(name, fallback).trim();
    try {
      int number = Integer.parseInt(value);
      if (number >= min) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new WorkloadException(name + "=" + value + ": give a whole number from " + min + " on");
  }

  @Override
  public boolean doInsert(DB db, Object threadstate) {
    loaded++;
    return db.insert(table, Integer.toString(loaded), record(loaded)).isOk();
  }

  @Override
  public boolean doTransaction(DB db, Object threadstate) {
    int key = part == Part.READ ? keyOfRead(done) : done + 1;
    String name = Integer.toString(key);
    Map<String, ByteIterator> values = part == Part.INSERT ? record(key) : new HashMap<>();
    long start = System.nanoTime();
    Status status =
        switch (part) {
          case INSERT -> db.insert(table, name, values);
          case READ -> db.read(table, name, null, values);
          case DELETE -> db.delete(table, name);
        };
    nanoseconds += System.nanoTime() - start;
    done++;
    if (status.isOk()) {
      ok++;
    }
    if (done == size()) {
      endPart();
    }
    return true;
  }

  private Map<String, ByteIterator> record(int key) {
    Map<String, ByteIterator> values = new HashMap<>();
    values.put(FIELD, new StringByteIterator(key + text));
    return values;
  }

  private int size() {
    return switch (part) {
      case INSERT -> records;
      case READ -> reads;
      case DELETE -> deletes;
    };
  }

  private void endPart() {
    String operation = part.name().toLowerCase(java.util.Locale.ROOT);
    lines.add(round + "," + operation + "," + done + "," + ok + "," + nanoseconds);
    if (part == Part.DELETE && round < rounds) {
      empty();
    }
    if (part == Part.DELETE) {
      round++;
    }
    part = Part.values()[(part.ordinal() + 1) % Part.values().length];
    done = 0;
    ok = 0;
    nanoseconds = 0;
  }

  /**
   * Makes the table as it was at first, with a client of its own that YCSB does not measure.
   *
   * <p>Also where the deletes have left nothing: a database may not have cleaned up after them yet.
   */
  private void empty() {
    try {
      if (truncatingClient == null) {
        Class<?> client = Class.forName(properties.getProperty("db"));
        truncatingClient = (DB) client.getDeclaredConstructor().newInstance();
        truncatingClient.setProperties(properties);
        truncatingClient.init();
      }
    } catch (ReflectiveOperationException | DBException e) {
      throw new IllegalStateException("no client to empty the table with: " + e.getMessage(), e);
    }
    if (truncatingClient instanceof Truncatable emptying) {
      check(emptying.empty(table));
      return;
    }
    for (int key = deletes + 1; key <= records; key++) {
      check(truncatingClient.delete(table, Integer.toString(key)));
    }
  }

  /** Rounds on a table that is not empty would not be the same. */
  private static void check(Status status) {
    if (!status.isOk()) {
      throw new IllegalStateException("the table could not be emptied: " + status);
    }
  }

  @Override
  public void cleanup() throws WorkloadException {
    try {
      if (truncatingClient != null) {
        truncatingClient.cleanup();
      }
      if (file != null) {
        Files.writeString(file, String.join("\n", lines) + "\n", UTF_8);
      }
    } catch (IOException | DBException e) {
      throw new WorkloadException(e);
    }
  }
}
