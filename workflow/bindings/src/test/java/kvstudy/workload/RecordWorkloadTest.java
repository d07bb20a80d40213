package kvstudy.workload;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import kvstudy.workload.KeptRecords.Request;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.Client;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;

class RecordWorkloadTest {
  private static final Path WORKLOADS = Path.of("..", "..", "workloads");
  private static final Set<String> PRODUCT =
      Set.of("name", "price", "availability", "description", "category");
  private static final int RECORDS = 2000;

  private final KeptRecords store = new KeptRecords();

  @BeforeEach
  void freshMeasurements() {
    Measurements.setProperties(new Properties());
  }

  /** The properties of a file under workloads/, with {@code changes} as {@code name=value}. */
  private static Properties file(String name, String... changes) {
    Properties p = new Properties();
    try (Reader text = Files.newBufferedReader(WORKLOADS.resolve(name))) {
      p.load(text);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    p.setProperty(Client.RECORD_COUNT_PROPERTY, Integer.toString(RECORDS));
    p.setProperty(Client.OPERATION_COUNT_PROPERTY, Integer.toString(RECORDS));
    for (String change : changes) {
      String[] parts = change.split("=", 2);
      p.setProperty(parts[0], parts[1]);
    }
    return p;
  }

  private static RecordWorkload made(Properties p) throws WorkloadException {
    RecordWorkload workload = new RecordWorkload();
    workload.init(p);
    return workload;
  }

  /** A workload whose records are in {@link #store}. */
  private RecordWorkload loaded(Properties p) throws WorkloadException {
    RecordWorkload workload = made(p);
    for (int i = 0; i < RECORDS; i++) {
      assertTrue(workload.doInsert(store, null));
    }
    store.requests.clear();
    return workload;
  }

  private void run(RecordWorkload workload, int operations) {
    for (int i = 0; i < operations; i++) {
      assertTrue(workload.doTransaction(store, null));
    }
  }

  private TreeSet<Integer> lengths(String field) {
    return store.records.values().stream()
        .map(record -> record.get(field).length)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"product-read", "product-update", "product-insert"})
  void aProductHasItsFieldsInTheirSizes(String name) throws WorkloadException {
    loaded(file(name));
    assertEquals(RECORDS, store.records.size());
    for (Map.Entry<String, Map<String, byte[]>> record : store.records.entrySet()) {
      assertTrue(record.getKey().matches("prod\\d+"), record.getKey());
      assertEquals(PRODUCT, record.getValue().keySet());
    }
    for (String field : List.of("name", "description", "category")) {
      assertEquals(IntStream.rangeClosed(1, 100).boxed().toList(), List.copyOf(lengths(field)));
    }
    for (String field : List.of("price", "availability")) {
      assertEquals(List.of(1, 2, 3, 4), List.copyOf(lengths(field)));
      for (Map<String, byte[]> record : store.records.values()) {
        String text = new String(record.get(field), US_ASCII);
        assertTrue(text.matches("0|[1-9]\\d{0,3}|\\d"), text);
      }
    }
  }

  @Test
  void anUpdateReplacesOneField() throws WorkloadException {
    run(loaded(file("product-update", "updateproportion=1", "readproportion=0")), 1000);
    Set<String> changed = new HashSet<>();
    for (Request update : store.requests("update")) {
      assertEquals(1, update.fields().size());
      changed.addAll(update.fields());
    }
    assertEquals(PRODUCT, changed);
    assertEquals(RECORDS, store.records.size());
  }

  @Test
  void anUpdateOfAllFieldsReplacesThemAll() throws WorkloadException {
    run(loaded(file("product-update", "writeallfields=true")), 500);
    store.requests("update").forEach(update -> assertEquals(PRODUCT, update.fields()));
  }

  @ParameterizedTest
  @CsvSource({
    "product-read, read, 0.65",
    "product-read, scan, 0.30",
    "product-read, update, 0.05",
    "product-insert, insert, 0.80",
    "product-insert, read, 0.10",
    "product-insert, update, 0.10",
    // A read-modify-write asks for a read and an update.
    "product-update, read, 0.20",
    "product-update, update, 0.90",
  })
  void theMixtureIsThatOfTheSource(String name, String operation, double share)
      throws WorkloadException {
    int operations = 20_000;
    run(loaded(file(name)), operations);
    // Five standard deviations of a share of 0.5.
    assertEquals(share, store.requests(operation).size() / (double) operations, 0.018);
  }

  @Test
  void aScanHasBetweenOneAndOneHundredRecords() throws WorkloadException {
    run(loaded(file("product-read")), 20_000);
    List<Request> scans = store.requests("scan");
    assertEquals(1, scans.stream().mapToInt(Request::count).min().orElse(0));
    assertEquals(100, scans.stream().mapToInt(Request::count).max().orElse(0));
    scans.forEach(scan -> assertTrue(store.records.containsKey(scan.key()), scan.key()));
  }

  @Test
  void insertedKeysAreNew() throws WorkloadException {
    run(loaded(file("product-insert")), 1000);
    assertEquals(RECORDS + store.requests("insert").size(), store.records.size());
  }

  @Test
  void whoReadsNotAllFieldsReadsOneByItsName() throws WorkloadException {
    run(loaded(file("product-read", "readallfields=false")), 500);
    for (Request read : store.requests("read")) {
      assertEquals(1, read.fields().size());
      assertTrue(PRODUCT.containsAll(read.fields()), read.fields().toString());
    }
  }

  @Test
  void keysAreOrderedWhereTheWorkloadSaysSo() throws WorkloadException {
    loaded(file("product-read", "insertorder=ordered", "zeropadding=4"));
    assertEquals("prod0000", store.records.firstKey());
    assertEquals("prod1999", store.records.lastKey());
  }

  @Test
  void valuesAreRandom() throws WorkloadException {
    loaded(file("product-read"));
    Map<String, byte[]> first = new HashMap<>();
    store.records.forEach((key, record) -> first.put(key, record.get("description")));
    loaded(file("product-read"));
    long same =
        store.records.entrySet().stream()
            .filter(
                each -> Arrays.equals(each.getValue().get("description"), first.get(each.getKey())))
            .count();
    assertTrue(same < RECORDS / 100, same + " values came again");
  }

  @Test
  void withDataIntegrityAValueDependsOnKeyAndFieldAlone() throws WorkloadException {
    Properties p = file("product-update", "dataintegrity=true");
    loaded(p);
    Map<String, Map<String, byte[]>> first = new HashMap<>();
    store.records.forEach((key, record) -> first.put(key, Map.copyOf(record)));
    store.records.clear();
    RecordWorkload workload = loaded(p);
    // Lengths vary all the same, and updates write what belongs there.
    assertEquals(100, lengths("name").size());
    run(workload, 5000);
    assertEquals(first.keySet(), store.records.keySet());
    store.records.forEach(
        (key, record) ->
            record.forEach((name, value) -> assertArrayEquals(first.get(key).get(name), value)));
    String summary = Measurements.getMeasurements().getSummary();
    assertTrue(summary.contains("VERIFY"), summary);
  }

  private static String verified(RecordWorkload workload, String key, Map<String, byte[]> record) {
    Measurements.setProperties(new Properties());
    HashMap<String, ByteIterator> cells = new HashMap<>();
    record.forEach((name, value) -> cells.put(name, new ByteArrayByteIterator(value)));
    return workload.check(key, cells).getName();
  }

  @Test
  void aValueThatIsNotItsOwnIsNoticed() throws WorkloadException {
    RecordWorkload workload = loaded(file("product-read", "dataintegrity=true"));
    String key = store.records.firstKey();
    Map<String, byte[]> record = store.records.firstEntry().getValue();
    assertEquals("OK", verified(workload, key, record));
    assertEquals("ERROR", verified(workload, key, Map.of()));
    assertEquals("UNEXPECTED_STATE", verified(workload, store.records.lastKey(), record));
    assertEquals("UNEXPECTED_STATE", verified(workload, key, Map.of("field0", new byte[1])));
    record.put("price", "12345".getBytes(US_ASCII));
    assertEquals("UNEXPECTED_STATE", verified(workload, key, record));
  }

  @ParameterizedTest
  @CsvSource({"constant, 100", "uniform, 50.5", "zipfian, 19.6"})
  void lengthsHaveTheDistributionThatIsAskedFor(String distribution, double mean)
      throws WorkloadException {
    loaded(file("product-read", "fieldlengthdistribution=" + distribution));
    double observed =
        store.records.values().stream()
            .mapToInt(record -> record.get("name").length)
            .average()
            .orElse(0);
    // 2 000 values of a standard deviation of at most 29: five of their mean are 3.3.
    assertEquals(mean, observed, 3.3);
  }

  @ParameterizedTest
  @CsvSource({
    "record.fields=, give each field as",
    "record.fields=Name:text:1-5, give each field as",
    "record.fields=name, give each field as",
    "record.fields=name:text:0-5, at least 1 byte",
    "record.fields=name:text:5-1, the smaller first",
    "record.fields=name:float:1-5, give each field as",
    "record.fields=name:text:1-5 name:text:1-9, appears twice",
    "fieldlengthdistribution=histogram, 'give constant, uniform or zipfian'",
  })
  void aWrongPropertyIsNamed(String change, String message) {
    WorkloadException error =
        assertThrows(WorkloadException.class, () -> made(file("product-read", change)));
    assertTrue(error.getMessage().contains(message), error.getMessage());
    assertTrue(error.getMessage().contains(change.split("=")[0]), error.getMessage());
  }

  @Test
  void withoutFieldsThereIsNoRecord() {
    Properties p = file("product-read");
    p.remove("record.fields");
    WorkloadException error = assertThrows(WorkloadException.class, () -> made(p));
    assertTrue(error.getMessage().startsWith("record.fields: is missing"), error.getMessage());
  }
}
