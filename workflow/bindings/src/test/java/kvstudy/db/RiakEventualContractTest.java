package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

class RiakEventualContractTest extends RiakContract {
  RiakEventualContractTest() {
    super("ycsb_eventual");
  }

  @Test
  void insertOfAnExistingRecordOverwritesIt() {
    db.insert(TABLE, key, record("field0", "1"));
    assertEquals(Status.OK, db.insert(TABLE, key, record("field0", "2")));
    assertEquals(Map.of("field0", "2"), read(key, null));
  }

  @Test
  void aBlindUpdateReplacesTheRecordAndCreatesAMissingOne() throws DBException {
    DB blind = client(port);
    blind.getProperties().setProperty("riak.update", "put");
    blind.init();
    assertEquals(Status.OK, blind.update(TABLE, key, record("field0", "1", "field1", "2")));
    assertEquals(Status.OK, blind.update(TABLE, key, record("field1", "9")));
    assertEquals(Map.of("field1", "9"), read(key, null));
    blind.cleanup();
  }

  @Test
  void anObjectOverTheServersLimitIsRefusedAndKeepsTheConnectionInStep() throws DBException {
    db.cleanup();
    db = client(port);
    db.getProperties().setProperty("riak.timeout", "30000");
    db.init();
    Map<String, ByteIterator> large = Map.of("field0", bytes(new byte[60 << 20]));
    assertEquals("TOO_LARGE", db.insert(TABLE, key, large).getName());
    assertEquals(Status.NOT_FOUND, read(key, null));
    assertEquals(Status.OK, db.insert(TABLE, key, record("field0", "1")));
    assertEquals(Map.of("field0", "1"), read(key, null));
  }

  @Test
  void updatesAtTheSameTimeAllSucceed() throws Exception {
    assertEquals(Map.of(Status.OK, 200), contend(50));
  }

  @Test
  void anUnknownBucketTypeIsToldAtTheStart() {
    DBException e = initFails("riak.bucket_type", "nosuch");
    assertTrue(e.getMessage().startsWith("riak.bucket_type=nosuch: the server says"));
  }
}
