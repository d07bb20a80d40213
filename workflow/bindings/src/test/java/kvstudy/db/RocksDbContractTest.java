package kvstudy.db;

import site.ycsb.DB;
import site.ycsb.Status;

class RocksDbContractTest extends EmbeddedContract {
  RocksDbContractTest() {
    super("rocksdb");
  }

  @Override
  DB unset() {
    return new RocksDbClient();
  }

  /** It leaves a mark that the key is deleted, without looking whether it was there. */
  @Override
  Status deleteOfAMissingKey() {
    return Status.OK;
  }
}
