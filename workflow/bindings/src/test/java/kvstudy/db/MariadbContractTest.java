package kvstudy.db;

class MariadbContractTest extends JdbcContract {
  MariadbContractTest() {
    super("mariadb");
  }
}
