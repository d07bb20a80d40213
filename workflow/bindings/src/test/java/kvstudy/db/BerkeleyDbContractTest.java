package kvstudy.db;

import site.ycsb.DB;

class BerkeleyDbContractTest extends EmbeddedContract {
  BerkeleyDbContractTest() {
    super("berkeleydb");
  }

  @Override
  DB unset() {
    return new BerkeleyDbClient();
  }
}
