package kvstudy.db;

import java.util.List;

class PostgresqlContractTest extends JdbcContract {
  PostgresqlContractTest() {
    super("postgresql");
  }

  @Override
  int largest() {
    return 16 << 20;
  }

  /** A gigabyte is its limit, which is more than a test should send. */
  @Override
  List<Integer> tooLarge() {
    return List.of();
  }

  @Override
  String oldestConnection() {
    return "SELECT pid FROM pg_stat_activity WHERE datname = 'ycsb' AND pid <> pg_backend_pid()"
        + " ORDER BY backend_start LIMIT 1";
  }
}
