package kvstudy.db;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoConnectionPoolClearedException;
import com.mongodb.MongoException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.ServerAddress;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.TimeUnit;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB on MongoDB, with the record layout of YCSB's own binding.
 *
 * <p>A record is one document of the collection named like the table: {@code _id} is the key, each
 * field is a binary value.
 *
 * <ul>
 *   <li>read: find by {@code _id}, with a projection when fields are named
 *   <li>insert: insertOne; an existing key is an ERROR
 *   <li>update: updateOne with {@code $set} of the given fields; a missing key is NOT_FOUND
 *   <li>delete: deleteOne
 *   <li>scan: find of {@code _id >= startkey}, sorted by {@code _id}, with a limit
 * </ul>
 *
 * <p>Different from YCSB's binding: a scan that finds nothing is NOT_FOUND (YCSB's says ERROR), a
 * lost server is an ERROR at once or after the time-out (YCSB's waits 30 s), the driver does not
 * repeat a failed read or write by itself, and batches and upserts are refused (YCSB's binding
 * loses the last records of a batch).
 *
 * <p>Properties: {@code mongodb.url} (mongodb://127.0.0.1:27017/ycsb?w=1), {@code mongodb.timeout}
 * (ms for connecting and for each operation, 2000). Options in the URL win.
 */
public class MongoDbClient extends DB {
  private static final String URL = "mongodb://127.0.0.1:27017/ycsb?w=1";
  private static final List<String> KNOWN = List.of("mongodb.url", "mongodb.timeout");
  private static final BsonInt32 YES = new BsonInt32(1);

  private int timeout;
  private List<String> hosts;
  private Failures failures;

  /** One for each client thread, with one connection for its operations. */
  private MongoClient client;

  private MongoDatabase database;

  /** The collection of the last operation: a new one would look up its codecs again. */
  private MongoCollection<BsonDocument> collection;

  private String collectionTable;

  /** True after a lost connection, until an operation succeeds. */
  private boolean lost;

  @Override
  public void init() throws DBException {
    Properties p = getProperties();
    refuseOthers(p);
    timeout = Options.integer(p, "mongodb.timeout", 2000, 1, Integer.MAX_VALUE);
    ConnectionString url = url(p);
    hosts = url.getHosts();
    String name = "mongodb " + String.join(",", hosts);
    failures = new Failures(name);
    try {
      client = MongoClients.create(settings(url, timeout));
      database = client.getDatabase(url.getDatabase() == null ? "ycsb" : url.getDatabase());
      database.runCommand(new BsonDocument("ping", YES));
    } catch (MongoException e) {
      cleanup();
      throw failures.unreachable(e, "start the server, or set mongodb.url");
    }
  }

  /** What YCSB's binding knows and this one does not must not be ignored in silence. */
  private static void refuseOthers(Properties p) throws DBException {
    for (String name : p.stringPropertyNames()) {
      if (name.equals("batchsize") || (name.startsWith("mongodb.") && !KNOWN.contains(name))) {
        throw new DBException(
            String.format(
                "%s=%s: this binding knows only %s; give write concern and read preference in the"
                    + " URL, and use YCSB's own binding for batches and upserts",
                name, p.getProperty(name), String.join(" and ", KNOWN)));
      }
    }
  }

  private static ConnectionString url(Properties p) throws DBException {
    String text = p.getProperty("mongodb.url", URL);
    try {
      if (text.startsWith("mongodb://")) {
        return new ConnectionString(text);
      }
    } catch (IllegalArgumentException e) {
      throw new DBException(String.format("mongodb.url=%s: %s", text, e.getMessage()), e);
    }
    throw new DBException(
        String.format("mongodb.url=%s: give it as mongodb://host:port/database?w=1", text));
  }

  private static MongoClientSettings settings(ConnectionString url, int timeout) {
    return MongoClientSettings.builder()
        .applyToSocketSettings(
            socket ->
                socket
                    .connectTimeout(timeout, TimeUnit.MILLISECONDS)
                    .readTimeout(timeout, TimeUnit.MILLISECONDS))
        .applyToClusterSettings(
            cluster -> cluster.serverSelectionTimeout(timeout, TimeUnit.MILLISECONDS))
        // How soon the driver looks again for a lost server; as shipped half a second.
        .applyToServerSettings(server -> server.minHeartbeatFrequency(100, TimeUnit.MILLISECONDS))
        .applyToConnectionPoolSettings(pool -> pool.maxSize(1))
        // An operation that was repeated would hide its failure in its latency.
        .retryReads(false)
        .retryWrites(false)
        .applyConnectionString(url)
        .build();
  }

  @Override
  public void cleanup() {
    if (client != null) {
      client.close();
      client = null;
    }
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return attempt(
        "read",
        () -> {
          BsonDocument record = find(table, id(key), fields).first();
          if (record == null) {
            return Status.NOT_FOUND;
          }
          fill(result, record);
          return Status.OK;
        });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    BsonDocument record = put(id(key), values);
    return attempt(
        "insert",
        () -> {
          collection(table).insertOne(record);
          return Status.OK;
        });
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    BsonDocument change = new BsonDocument("$set", put(new BsonDocument(), values));
    return attempt(
        "update",
        () -> {
          UpdateResult done = collection(table).updateOne(id(key), change);
          // With w=0 the server does not tell.
          boolean missed = done.wasAcknowledged() && done.getMatchedCount() == 0;
          return missed ? Status.NOT_FOUND : Status.OK;
        });
  }

  @Override
  public Status delete(String table, String key) {
    return attempt(
        "delete",
        () -> {
          DeleteResult done = collection(table).deleteOne(id(key));
          boolean missed = done.wasAcknowledged() && done.getDeletedCount() == 0;
          return missed ? Status.NOT_FOUND : Status.OK;
        });
  }

  @Override
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    BsonDocument from = new BsonDocument("_id", new BsonDocument("$gte", new BsonString(startkey)));
    return attempt(
        "scan",
        () -> {
          FindIterable<BsonDocument> found =
              find(table, from, fields).sort(new BsonDocument("_id", YES)).limit(recordcount);
          try (MongoCursor<BsonDocument> records = found.iterator()) {
            while (records.hasNext()) {
              HashMap<String, ByteIterator> record = new HashMap<>();
              fill(record, records.next());
              result.add(record);
            }
          }
          return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
        });
  }

  private FindIterable<BsonDocument> find(String table, BsonDocument query, Set<String> fields) {
    FindIterable<BsonDocument> found = collection(table).find(query);
    if (fields == null || fields.isEmpty()) {
      return found;
    }
    BsonDocument projection = new BsonDocument();
    fields.forEach(field -> projection.put(field, YES));
    return found.projection(projection);
  }

  private MongoCollection<BsonDocument> collection(String table) {
    if (!table.equals(collectionTable)) {
      collection = database.getCollection(table, BsonDocument.class);
      collectionTable = table;
    }
    return collection;
  }

  private static BsonDocument id(String key) {
    return new BsonDocument("_id", new BsonString(key));
  }

  private static BsonDocument put(BsonDocument record, Map<String, ByteIterator> values) {
    values.forEach((name, value) -> record.put(name, new BsonBinary(value.toArray())));
    return record;
  }

  private static void fill(Map<String, ByteIterator> result, BsonDocument record) {
    record.forEach(
        (name, value) -> {
          if (value.isBinary()) {
            result.put(name, new ByteArrayByteIterator(value.asBinary().getData()));
          }
        });
  }

  private interface Operation {
    Status run();
  }

  private Status attempt(String name, Operation operation) {
    try {
      if (lost) {
        knock();
      }
      Status status = operation.run();
      lost = false;
      return status;
    } catch (MongoSocketException
        | MongoTimeoutException
        | MongoConnectionPoolClearedException
        | IOException e) {
      lost = true;
      return failures.error(name, e);
    } catch (RuntimeException e) {
      return failures.error(name, e);
    }
  }

  /** Fails at once when nobody listens; the driver would wait for the whole time-out. */
  private void knock() throws IOException {
    IOException refused = null;
    for (String host : hosts) {
      ServerAddress address = new ServerAddress(host);
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(address.getHost(), address.getPort()), timeout);
        return;
      } catch (IOException e) {
        refused = e;
      }
    }
    throw refused;
  }
}
