package kvstudy.db;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB on Redis, with the record layout of YCSB's own binding.
 *
 * <p>A record is a hash under its key; the table name is not used. The sorted set {@code _indices}
 * holds all keys with Java's {@code String.hashCode} as score, so scans follow that order, not the
 * keys' order.
 *
 * <ul>
 *   <li>read: HGETALL, or HMGET when fields are named
 *   <li>insert: HSET (HMSET, which YCSB sends, is deprecated; Redis runs the same code), then ZADD,
 *       two round trips; an existing record is overwritten
 *   <li>update: HSET of the given fields; a missing key is <em>created</em> (without index entry),
 *       as YCSB's binding does
 *   <li>delete: DEL and ZREM
 *   <li>scan: ZRANGEBYSCORE, then one read for each key
 * </ul>
 *
 * <p>Different from YCSB's binding: a missing record is NOT_FOUND, values are bytes (no conversion
 * to text), a lost connection is an ERROR and the next operation connects again, and delete always
 * removes the index entry.
 *
 * <p>With {@code redis.layout=string} a record of one field is a plain string under its key,
 * without any index: SET, GET and DEL, one round trip each; update is SET too, and there are no
 * scans.
 *
 * <p>Commands go through Jedis's connection. Its class {@code Jedis} stands for all of Redis: 200
 * classes that are loaded in the first tenth of a second of a run.
 *
 * <p>Properties: {@code redis.host} (127.0.0.1), {@code redis.port} (6379), {@code redis.timeout}
 * (ms for connecting and for each operation, 2000), {@code redis.password}, {@code redis.layout}
 * (hash or string, hash).
 */
public class RedisClient extends StoreClient<Connection> implements Truncatable {
  private static final String INDEX_KEY = "_indices";
  private static final byte[] INDEX = INDEX_KEY.getBytes(UTF_8);
  private static final byte[] LAST = "+inf".getBytes(UTF_8);
  private static final byte[] LIMIT = "LIMIT".getBytes(UTF_8);
  private static final byte[] NONE_LEFT_OUT = Protocol.toByteArray(0);

  private HostAndPort server;
  private JedisClientConfig config;

  /** Whether records are plain strings. */
  private boolean strings;

  @Override
  String configure(Properties p) throws DBException {
    if (Boolean.parseBoolean(p.getProperty("redis.cluster"))) {
      throw new DBException(
          "redis.cluster=true: this binding speaks to one server; use YCSB's own binding");
    }
    int port = Options.integer(p, "redis.port", 6379, 1, 65535);
    int timeout = Options.integer(p, "redis.timeout", 2000, 1, Integer.MAX_VALUE);
    server = new HostAndPort(p.getProperty("redis.host", "127.0.0.1"), port);
    config =
        DefaultJedisClientConfig.builder()
            .timeoutMillis(timeout)
            .password(p.getProperty("redis.password"))
            // As YCSB's binding; fields come in turn, not as pairs of another class.
            .protocol(RedisProtocol.RESP2)
            .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
            .build();
    strings = Options.choice(p, "redis.layout", "hash", "string").equals("string");
    ordered = !strings;
    return "redis " + server;
  }

  @Override
  Connection connect() {
    return new Connection(server, config);
  }

  @Override
  void greet(Connection redis) {
    ask(redis, Command.PING);
  }

  @Override
  void close(Connection redis) {
    redis.close();
  }

  @Override
  String remedy() {
    return "start the server, or set redis.host and redis.port";
  }

  /** Answers of a broken connection may still arrive. */
  @Override
  boolean isLost(Exception e) {
    return e instanceof JedisConnectionException;
  }

  @Override
  Status read(
      Connection redis,
      String table,
      String key,
      Set<String> fields,
      Map<String, ByteIterator> result) {
    byte[] name = key.getBytes(UTF_8);
    return strings ? readString(redis, name, fields, result) : read(redis, name, fields, result);
  }

  @Override
  Status insert(Connection redis, String table, String key, Map<String, ByteIterator> values) {
    byte[] name = key.getBytes(UTF_8);
    if (strings) {
      ask(redis, Command.SET, name, only(values));
      return Status.OK;
    }
    put(redis, name, values);
    ask(redis, Command.ZADD, INDEX, Protocol.toByteArray(key.hashCode()), name);
    return Status.OK;
  }

  @Override
  Status update(Connection redis, String table, String key, Map<String, ByteIterator> values) {
    if (strings) {
      ask(redis, Command.SET, key.getBytes(UTF_8), only(values));
      return Status.OK;
    }
    put(redis, key.getBytes(UTF_8), values);
    return Status.OK;
  }

  @Override
  Status delete(Connection redis, String table, String key) {
    byte[] name = key.getBytes(UTF_8);
    Object deleted = ask(redis, Command.DEL, name);
    if (!strings) {
      ask(redis, Command.ZREM, INDEX, name);
    }
    return deleted.equals(0L) ? Status.NOT_FOUND : Status.OK;
  }

  @Override
  Status scan(
      Connection redis,
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    byte[] first = Protocol.toByteArray(startkey.hashCode());
    byte[] count = Protocol.toByteArray(recordcount);
    Object keys =
        ask(redis, Command.ZRANGEBYSCORE, INDEX, first, LAST, LIMIT, NONE_LEFT_OUT, count);
    for (Object key : (List<?>) keys) {
      HashMap<String, ByteIterator> record = new HashMap<>();
      // A record deleted since the index was read is left out.
      if (read(redis, (byte[]) key, fields, record).isOk()) {
        result.add(record);
      }
    }
    return Status.OK;
  }

  /** Deletes all keys of the database; the table name is not used. */
  @Override
  Status empty(Connection redis, String table) {
    ask(redis, Command.FLUSHDB);
    return Status.OK;
  }

  /** The value as the field that was asked for; YCSB's first one when none was. */
  private static Status readString(
      Connection redis, byte[] key, Set<String> fields, Map<String, ByteIterator> result) {
    byte[] value = (byte[]) ask(redis, Command.GET, key);
    if (value == null) {
      return Status.NOT_FOUND;
    }
    String field = fields == null || fields.isEmpty() ? "field0" : fields.iterator().next();
    result.put(field, new ByteArrayByteIterator(value));
    return Status.OK;
  }

  /** The value of a record's only field. */
  private static byte[] only(Map<String, ByteIterator> values) {
    if (values.size() != 1) {
      throw new IllegalArgumentException(
          "redis.layout=string stores one field, not " + values.size() + "; set fieldcount=1");
    }
    return values.values().iterator().next().toArray();
  }

  private static Status read(
      Connection redis, byte[] key, Set<String> fields, Map<String, ByteIterator> result) {
    if (fields == null || fields.isEmpty()) {
      // Names and values in turn.
      List<?> answer = (List<?>) ask(redis, Command.HGETALL, key);
      for (int i = 0; i < answer.size(); i += 2) {
        String name = new String((byte[]) answer.get(i), UTF_8);
        result.put(name, new ByteArrayByteIterator((byte[]) answer.get(i + 1)));
      }
      return answer.isEmpty() ? Status.NOT_FOUND : Status.OK;
    }
    byte[][] arguments = new byte[1 + fields.size()][];
    int i = 0;
    arguments[i++] = key;
    for (String field : fields) {
      arguments[i++] = field.getBytes(UTF_8);
    }
    boolean exists = false;
    Iterator<?> values = ((List<?>) ask(redis, Command.HMGET, arguments)).iterator();
    for (String field : fields) {
      byte[] value = (byte[]) values.next();
      if (value != null) {
        result.put(field, new ByteArrayByteIterator(value));
        exists = true;
      }
    }
    return exists ? Status.OK : Status.NOT_FOUND;
  }

  /** HSET of the values; an update has one, an insert all. */
  private static void put(Connection redis, byte[] key, Map<String, ByteIterator> values) {
    byte[][] arguments = new byte[1 + 2 * values.size()][];
    int i = 0;
    arguments[i++] = key;
    for (Map.Entry<String, ByteIterator> field : values.entrySet()) {
      arguments[i++] = field.getKey().getBytes(UTF_8);
      arguments[i++] = field.getValue().toArray();
    }
    ask(redis, Command.HSET, arguments);
  }

  /** The server's answer: a number, bytes, or a list of them; null for nothing. */
  private static Object ask(Connection redis, Command command, byte[]... arguments) {
    redis.sendCommand(command, arguments);
    return redis.getOne();
  }
}
