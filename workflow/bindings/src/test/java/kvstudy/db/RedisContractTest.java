package kvstudy.db;

class RedisContractTest extends RedisContract {
  RedisContractTest() {
    super("redis");
  }
}
