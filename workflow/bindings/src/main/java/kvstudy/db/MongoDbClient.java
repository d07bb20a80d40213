package kvstudy.db;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoConnectionPoolClearedException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
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
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.configuration.CodecRegistry;
import site.ycsb.ByteIterator;
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
 *   <li>insert: an existing key is an ERROR
 *   <li>update: {@code $set} of the given fields; a missing key is NOT_FOUND
 *   <li>delete: of one document
 *   <li>scan: find of {@code _id >= startkey}, sorted by {@code _id}, with a limit
 * </ul>
 *
 * <p>Operations are the server's commands, run by the driver, and not calls of its collections: a
 * read took 68 µs of the client's CPU with these, 57 with commands, 52 in YCSB's binding with
 * driver 3.8 (200 000 reads, start of the JVM included, means of 3 interleaved rounds).
 *
 * <p>Different from YCSB's binding: a scan that finds nothing is NOT_FOUND (YCSB's says ERROR), a
 * lost server is an ERROR at once or after the time-out (YCSB's waits 30 s), the driver does not
 * repeat a failed read or write by itself, and batches, upserts and writes without an answer (w=0)
 * are refused (YCSB's binding loses the last records of a batch).
 *
 * <p>Properties: {@code mongodb.url} (mongodb://127.0.0.1:27017/ycsb?w=1), {@code mongodb.timeout}
 * (ms for connecting and for finding the server, 2000). Options in the URL win. An operation waits
 * for as long as the server takes, as in YCSB's binding; {@code socketTimeoutMS} in the URL sets a
 * limit, with which Java makes five system calls for each operation instead of three.
 */
public class MongoDbClient extends StoreClient<MongoDatabase> {
  private static final String URL = "mongodb://127.0.0.1:27017/ycsb?w=1";
  private static final List<String> KNOWN = List.of("mongodb.url", "mongodb.timeout");
  private static final BsonInt32 YES = new BsonInt32(1);
  private static final CodecRegistry REGISTRY =
      CodecRegistries.fromRegistries(
          CodecRegistries.fromCodecs(new MongoDbReply.Reader()),
          MongoClientSettings.getDefaultCodecRegistry());

  /**
   * With a client for each thread, each of which watches the server with threads of its own, there
   * were 4 % (workload A) and 10 % (C) fewer operations in a second (4 rounds of 150 000).
   */
  private static final RefCounted<MongoClientSettings, MongoClient> CLIENTS =
      new RefCounted<>(MongoClients::create);

  private int timeout;
  private ConnectionString url;
  private MongoClientSettings settings;
  private MongoClient client;

  /** What the URL asks for next to the operation, if anything. */
  private final BsonDocument ofReads = new BsonDocument();

  private final BsonDocument ofWrites = new BsonDocument();

  @Override
  String configure(Properties p) throws DBException {
    refuseOthers(p);
    timeout = Options.integer(p, "mongodb.timeout", 2000, 1, Integer.MAX_VALUE);
    url = url(p);
    settings = settings(url, timeout);
    if (!settings.getWriteConcern().isAcknowledged()) {
      throw new DBException("mongodb.url: w=0 measures the sending alone; give w=1 or more");
    }
    if (!settings.getReadConcern().isServerDefault()) {
      ofReads.put("readConcern", settings.getReadConcern().asDocument());
    }
    if (!settings.getWriteConcern().isServerDefault()) {
      ofWrites.put("writeConcern", settings.getWriteConcern().asDocument());
    }
    client = CLIENTS.take(settings);
    return "mongodb " + String.join(",", url.getHosts());
  }

  @Override
  MongoDatabase connect() throws IOException {
    knock();
    return client
        .getDatabase(url.getDatabase() == null ? "ycsb" : url.getDatabase())
        .withCodecRegistry(REGISTRY);
  }

  @Override
  void greet(MongoDatabase database) {
    database.runCommand(new BsonDocument("ping", YES));
  }

  /** The driver closes what it has lost. */
  @Override
  void close(MongoDatabase broken) {}

  @Override
  public void cleanup() throws DBException {
    if (client != null) {
      client = null;
      CLIENTS.release(settings);
    }
  }

  @Override
  String remedy() {
    return "start the server, or set mongodb.url";
  }

  @Override
  boolean isLost(Exception e) {
    return e instanceof MongoSocketException
        || e instanceof MongoTimeoutException
        || e instanceof MongoConnectionPoolClearedException;
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
        .applyToSocketSettings(socket -> socket.connectTimeout(timeout, TimeUnit.MILLISECONDS))
        .applyToClusterSettings(
            cluster -> cluster.serverSelectionTimeout(timeout, TimeUnit.MILLISECONDS))
        // How soon the driver looks again for a lost server; as shipped half a second.
        .applyToServerSettings(server -> server.minHeartbeatFrequency(100, TimeUnit.MILLISECONDS))
        // No bound but the number of client threads, each of which uses one at a time.
        .applyToConnectionPoolSettings(pool -> pool.maxSize(0))
        // An operation that was repeated would hide its failure in its latency.
        .retryReads(false)
        .retryWrites(false)
        .applyConnectionString(url)
        .build();
  }

  @Override
  Status read(
      MongoDatabase mongodb,
      String table,
      String key,
      Set<String> fields,
      Map<String, ByteIterator> result) {
    BsonDocument find = find(table, id(key), fields, 1).append("singleBatch", BsonBoolean.TRUE);
    List<HashMap<String, ByteIterator>> records = answer(mongodb, find).records;
    if (records.isEmpty()) {
      return Status.NOT_FOUND;
    }
    result.putAll(records.get(0));
    return Status.OK;
  }

  @Override
  Status insert(MongoDatabase mongodb, String table, String key, Map<String, ByteIterator> values) {
    BsonDocument record = put(id(key), values);
    return write(mongodb, "insert", table, "documents", record);
  }

  @Override
  Status update(MongoDatabase mongodb, String table, String key, Map<String, ByteIterator> values) {
    BsonDocument change = new BsonDocument("$set", put(new BsonDocument(), values));
    BsonDocument update = new BsonDocument("q", id(key)).append("u", change);
    return write(mongodb, "update", table, "updates", update);
  }

  @Override
  Status delete(MongoDatabase mongodb, String table, String key) {
    BsonDocument delete = new BsonDocument("q", id(key)).append("limit", YES);
    return write(mongodb, "delete", table, "deletes", delete);
  }

  @Override
  Status scan(
      MongoDatabase mongodb,
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    BsonDocument from = new BsonDocument("_id", new BsonDocument("$gte", new BsonString(startkey)));
    BsonDocument find = find(table, from, fields, recordcount);
    find.put("batchSize", find.get("limit"));
    MongoDbReply reply = answer(mongodb, find.append("sort", new BsonDocument("_id", YES)));
    if (reply.cursor != 0) {
      return error("scan", "the records do not fit into one answer (16 MiB)");
    }
    result.addAll(reply.records);
    return reply.records.isEmpty() ? Status.NOT_FOUND : Status.OK;
  }

  private static BsonDocument find(
      String table, BsonDocument filter, Set<String> fields, int limit) {
    BsonDocument find = new BsonDocument("find", new BsonString(table)).append("filter", filter);
    find.put("limit", new BsonInt32(limit));
    if (fields != null && !fields.isEmpty()) {
      BsonDocument projection = new BsonDocument();
      fields.forEach(field -> projection.put(field, YES));
      find.put("projection", projection);
    }
    return find;
  }

  private MongoDbReply answer(MongoDatabase mongodb, BsonDocument find) {
    find.putAll(ofReads);
    return mongodb.runCommand(find, settings.getReadPreference(), MongoDbReply.class);
  }

  private Status write(
      MongoDatabase mongodb, String name, String table, String kind, BsonDocument one) {
    BsonDocument command = new BsonDocument(name, new BsonString(table));
    command.append(kind, new BsonArray(List.of(one))).putAll(ofWrites);
    MongoDbReply reply = mongodb.runCommand(command, MongoDbReply.class);
    if (reply.error != null) {
      return error(name, reply.error);
    }
    return reply.count == 0 ? Status.NOT_FOUND : Status.OK;
  }

  private static BsonDocument id(String key) {
    return new BsonDocument("_id", new BsonString(key));
  }

  private static BsonDocument put(BsonDocument record, Map<String, ByteIterator> values) {
    values.forEach((name, value) -> record.put(name, new BsonBinary(value.toArray())));
    return record;
  }

  /** Fails at once when nobody listens; the driver would wait for the whole time-out. */
  private void knock() throws IOException {
    IOException refused = null;
    for (String host : url.getHosts()) {
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
