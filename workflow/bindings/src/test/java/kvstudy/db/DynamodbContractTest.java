package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import site.ycsb.Status;

class DynamodbContractTest extends StoreContract {
  DynamodbContractTest() {
    super("dynamodb");
  }

  /** Of an item with its names, 400 KiB. */
  @Override
  int largest() {
    return 409_000;
  }

  @Override
  List<Integer> tooLarge() {
    return List.of(409_600, 4 << 20);
  }

  @Override
  int recordsOfEachThread() {
    return 200;
  }

  @Test
  void anUpdateKeepsTheOtherFieldsAndCreatesWhatIsMissing() {
    db.insert(TABLE, key, record("field0", "1", "field1", "2"));
    assertEquals(Status.OK, db.update(TABLE, key, record("field1", "3")));
    assertEquals(Map.of("field0", "1", "field1", "3"), read(key, null));
    assertEquals(Status.OK, db.update(TABLE, key + "x", record("field1", "3")));
    assertEquals(Map.of("field1", "3"), read(key + "x", null));
  }
}
