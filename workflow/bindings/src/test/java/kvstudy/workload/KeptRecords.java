package kvstudy.workload;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.Vector;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/** A store in memory that remembers what it was requests for. */
final class KeptRecords extends DB {
  /** An operation, its key, the fields it named, and what it wrote; scans have their length. */
  record Request(String operation, String key, Set<String> fields, int count) {}

  final NavigableMap<String, Map<String, byte[]>> records = new TreeMap<>();
  final List<Request> requests = new ArrayList<>();

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    requests.add(new Request("read", key, fields, 0));
    Map<String, byte[]> record = records.get(key);
    if (record == null) {
      return Status.NOT_FOUND;
    }
    record.forEach(
        (name, value) -> {
          if (fields == null || fields.contains(name)) {
            result.put(name, new ByteArrayByteIterator(value));
          }
        });
    return Status.OK;
  }

  @Override
  public Status scan(
      String table,
      String start,
      int count,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    requests.add(new Request("scan", start, fields, count));
    return Status.OK;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return write("update", key, values);
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return write("insert", key, values);
  }

  private Status write(String operation, String key, Map<String, ByteIterator> values) {
    requests.add(new Request(operation, key, new HashSet<>(values.keySet()), 0));
    Map<String, byte[]> record = records.computeIfAbsent(key, name -> new HashMap<>());
    values.forEach((name, value) -> record.put(name, value.toArray()));
    return Status.OK;
  }

  @Override
  public Status delete(String table, String key) {
    return records.remove(key) == null ? Status.NOT_FOUND : Status.OK;
  }

  List<Request> requests(String operation) {
    return requests.stream().filter(each -> each.operation().equals(operation)).toList();
  }
}
