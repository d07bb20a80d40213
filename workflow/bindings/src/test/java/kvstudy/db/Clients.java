package kvstudy.db;

import java.util.Properties;
import site.ycsb.DB;

/** Makes a client as YCSB does: an object, its properties, no init yet. */
final class Clients {
  private Clients() {}

  static DB create(String store, int port, int timeoutMillis) {
    Properties p = new Properties();
    DB db;
    switch (store) {
      case "redis", "valkey" -> {
        db = new RedisClient();
        p.setProperty("redis.port", Integer.toString(port));
        p.setProperty("redis.timeout", Integer.toString(timeoutMillis));
      }
      case "memcached", "spymemcached" -> {
        db = new MemcachedClient();
        p.setProperty("memcached.client", store.equals("memcached") ? "direct" : store);
        p.setProperty("memcached.hosts", "127.0.0.1:" + port);
        p.setProperty("memcached.opTimeoutMillis", Integer.toString(timeoutMillis));
      }
      case "aerospike" -> {
        db = new AerospikeClient();
        p.setProperty("as.host", "127.0.0.1");
        p.setProperty("as.port", Integer.toString(port));
        p.setProperty("as.timeout", Integer.toString(timeoutMillis));
      }
      case "cassandra" -> {
        db = new CassandraClient();
        p.setProperty("port", Integer.toString(port));
        p.setProperty("cassandra.connecttimeoutmillis", Integer.toString(timeoutMillis));
        // The server pauses: it compiles and collects garbage next to the tests.
        p.setProperty("cassandra.readtimeoutmillis", Integer.toString(3 * timeoutMillis));
      }
      case "mongodb" -> {
        db = new MongoDbClient();
        // An operation has a limit of time only where the URL sets one.
        p.setProperty(
            "mongodb.url",
            "mongodb://127.0.0.1:" + port + "/ycsb?w=1&socketTimeoutMS=" + timeoutMillis);
        p.setProperty("mongodb.timeout", Integer.toString(timeoutMillis));
      }
      case "mysql", "mariadb" -> {
        db = new JdbcClient();
        p.setProperty(
            "db.url", "jdbc:" + store + "://127.0.0.1:" + port + "/ycsb?permitMysqlScheme");
        p.setProperty("db.timeout", Integer.toString(timeoutMillis));
      }
      case "postgresql" -> {
        db = new JdbcClient();
        p.setProperty("db.url", "jdbc:postgresql://127.0.0.1:" + port + "/ycsb");
        p.setProperty("db.user", "postgres");
        p.setProperty("db.timeout", Integer.toString(timeoutMillis));
      }
      case "dynamodb" -> {
        db = new DynamoDBClient();
        p.setProperty("dynamodb.endpoint", "http://127.0.0.1:" + port);
        p.setProperty("dynamodb.timeout", Integer.toString(timeoutMillis));
      }
      case "etcd" -> {
        db = new EtcdClient();
        p.setProperty("etcd.port", Integer.toString(port));
        p.setProperty("etcd.timeout", Integer.toString(timeoutMillis));
      }
      case "riak" -> {
        db = new RiakClient();
        p.setProperty("riak.port", Integer.toString(port));
        p.setProperty("riak.timeout", Integer.toString(timeoutMillis));
      }
      default -> throw new IllegalArgumentException(store);
    }
    db.setProperties(p);
    return db;
  }
}
