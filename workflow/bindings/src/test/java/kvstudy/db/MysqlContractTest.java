package kvstudy.db;

class MysqlContractTest extends JdbcContract {
  MysqlContractTest() {
    super("mysql");
  }
}
