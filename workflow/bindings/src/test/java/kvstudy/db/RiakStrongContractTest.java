package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import site.ycsb.DBException;
import site.ycsb.Status;

class RiakStrongContractTest extends RiakContract {
  private static final Status FAILED = new Status("FAILED", "failed");

  RiakStrongContractTest() {
    super("ycsb_strong");
  }

  @Test
  void insertOfAnExistingRecordFails() {
    db.insert(TABLE, key, record("field0", "1"));
    assertEquals(FAILED, db.insert(TABLE, key, record("field0", "2")));
    assertEquals(Map.of("field0", "1"), read(key, null));
  }

  /** Of those that read the same version one can win. */
  @Test
  void ofUpdatesAtTheSameTimeSomeFail() throws Exception {
    Map<Status, Integer> statuses = contend(50);
    int failed = statuses.getOrDefault(FAILED, 0);
    assertTrue(failed > 0, statuses.toString());
    assertEquals(200 - failed, statuses.get(Status.OK));
  }

  @Test
  void aBlindUpdateIsRefusedAtTheStart() {
    DBException e = initFails("riak.update", "put");
    assertTrue(e.getMessage().contains("set riak.update=fetch_put"), e.getMessage());
  }
}
