package kvstudy.workload;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.Vector;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.Utils;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's CoreWorkload with records whose fields have names, kinds and sizes of their own.
 *
 * <p>Which operation comes next, on which key, what is measured and tried again: all that stays
 * CoreWorkload's, with all of its properties. On the way to the binding its fields are exchanged
 * for those of {@code record.fields}, its values for values of theirs. So {@code fieldcount},
 * {@code fieldlength} and {@code fieldnameprefix} have no meaning here.
 *
 * <p>Values are random, as in CoreWorkload. With {@code dataintegrity=true} a value depends on key
 * and field alone, its length too, and whatever is read is compared; unlike in CoreWorkload,
 * lengths may vary then.
 *
 * <p>Properties: {@code record.fields} (needed; such as {@code name:text:1-100 price:number:1-4},
 * sizes in bytes), {@code fieldlengthdistribution} (constant: always the longest; uniform;
 * zipfian), {@code record.keyprefix} (user).
 */
public class RecordWorkload extends CoreWorkload {
  static final String FIELDS = "record.fields";
  static final String KEY_PREFIX = "record.keyprefix";

  /** What CoreWorkload's keys begin with. */
  private static final String CORE_PREFIX = "user";

  /** The record's fields by the names that CoreWorkload has for them. */
  private final Map<String, RecordField> byCoreName = new LinkedHashMap<>();

  private final Map<String, RecordField> byName = new HashMap<>();
  private String keyPrefix;
  private boolean repeatable;

  @Override
  public void init(Properties p) throws WorkloadException {
    String text = p.getProperty(FIELDS);
    if (text == null) {
      throw new WorkloadException(
          FIELDS + ": is missing; give the record's fields, like name:text:1-100 price:number:1-4");
    }
    String distribution =
        p.getProperty(
            FIELD_LENGTH_DISTRIBUTION_PROPERTY, FIELD_LENGTH_DISTRIBUTION_PROPERTY_DEFAULT);
    List<RecordField> fields = RecordField.parse(text, distribution);
    for (RecordField field : fields) {
      byCoreName.put(FIELD_NAME_PREFIX_DEFAULT + byCoreName.size(), field);
      byName.put(field.name, field);
    }
    keyPrefix = p.getProperty(KEY_PREFIX, CORE_PREFIX);
    repeatable =
        Boolean.parseBoolean(
            p.getProperty(DATA_INTEGRITY_PROPERTY, DATA_INTEGRITY_PROPERTY_DEFAULT));
    Properties core = new Properties(p);
    core.setProperty(FIELD_COUNT_PROPERTY, Integer.toString(fields.size()));
    core.setProperty(FIELD_NAME_PREFIX, FIELD_NAME_PREFIX_DEFAULT);
    // CoreWorkload's own values are thrown away.
    core.setProperty(FIELD_LENGTH_PROPERTY, "1");
    core.setProperty(FIELD_LENGTH_DISTRIBUTION_PROPERTY, "constant");
    super.init(core);
  }

  @Override
  protected String buildKeyName(long number) {
    return keyPrefix + super.buildKeyName(number).substring(CORE_PREFIX.length());
  }

  @Override
  public boolean doInsert(DB db, Object threadState) {
    return super.doInsert(new Exchange(db), threadState);
  }

  @Override
  public boolean doTransaction(DB db, Object threadState) {
    return super.doTransaction(new Exchange(db), threadState);
  }

  @Override
  protected void verifyRow(String key, HashMap<String, ByteIterator> cells) {
    long start = System.nanoTime();
    Status status = check(key, cells);
    Measurements measurements = Measurements.getMeasurements();
    measurements.measure("VERIFY", (int) (System.nanoTime() - start) / 1000);
    measurements.reportStatus("VERIFY", status);
  }

  /** Whether {@code cells} are what the key's fields must be: OK, or as CoreWorkload shows it. */
  Status check(String key, Map<String, ByteIterator> cells) {
    for (Map.Entry<String, ByteIterator> cell : cells.entrySet()) {
      RecordField field = byName.get(cell.getKey());
      if (field == null || !Arrays.equals(cell.getValue().toArray(), value(key, field))) {
        return Status.UNEXPECTED_STATE;
      }
    }
    return cells.isEmpty() ? Status.ERROR : Status.OK;
  }

  private byte[] value(String key, RecordField field) {
    RandomGenerator random = ThreadLocalRandom.current();
    if (repeatable) {
      random = new SplittableRandom(Utils.hash(key.hashCode()) ^ Utils.hash(field.name.hashCode()));
    }
    return field.value(random);
  }

  /** The binding as CoreWorkload sees it: with fields called field0, field1 and so on. */
  private final class Exchange extends DB {
    private final DB db;

    Exchange(DB db) {
      this.db = db;
    }

    private Set<String> named(Set<String> coreNames) {
      if (coreNames == null) {
        return null;
      }
      Set<String> names = new HashSet<>();
      coreNames.forEach(name -> names.add(byCoreName.get(name).name));
      return names;
    }

    private Map<String, ByteIterator> filled(String key, Set<String> coreNames) {
      Map<String, ByteIterator> values = new HashMap<>();
      for (String coreName : coreNames) {
        RecordField field = byCoreName.get(coreName);
        values.put(field.name, new ByteArrayByteIterator(value(key, field)));
      }
      return values;
    }

    @Override
    public Status read(
        String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
      return db.read(table, key, named(fields), result);
    }

    @Override
    public Status scan(
        String table,
        String start,
        int count,
        Set<String> fields,
        Vector<HashMap<String, ByteIterator>> result) {
      return db.scan(table, start, count, named(fields), result);
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
      return db.update(table, key, filled(key, values.keySet()));
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
      return db.insert(table, key, filled(key, values.keySet()));
    }

    @Override
    public Status delete(String table, String key) {
      return db.delete(table, key);
    }
  }
}
