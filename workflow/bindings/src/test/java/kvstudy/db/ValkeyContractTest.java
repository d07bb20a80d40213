package kvstudy.db;

class ValkeyContractTest extends RedisContract {
  ValkeyContractTest() {
    super("valkey");
  }

  /** The client does not know which of the two it speaks to. */
  @Override
  String called() {
    return "redis";
  }
}
