package kvstudy.db;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * The frame of a binding that is itself the store: all client threads share one open database.
 *
 * <p>A record is one value, see {@link BinaryRecord}; the table's name is not used.
 *
 * <p>Properties, behind the store's name and a point: {@code dir} (the folder of the data, made if
 * it is not there), {@code durability}: {@code write} (an operation ends when its log is handed to
 * the operating system) or {@code sync} (when it is on disk); the default is the store's.
 */
abstract class EmbeddedClient extends StoreClient<EmbeddedClient.Database> {
  /** What all client threads have in common. */
  record Settings(Path folder, boolean sync) {}

  /** An open database of keys and values. */
  interface Database extends AutoCloseable {
    /** Null without such a key. */
    byte[] get(byte[] key) throws Exception;

    void put(byte[] key, byte[] value) throws Exception;

    /** False without such a key. */
    boolean change(byte[] key, Change change) throws Exception;

    /** {@link Status#OK}, or what the store knows of a key that is not there. */
    Status delete(byte[] key) throws Exception;

    /** Calls {@code each} with the values of up to {@code count} keys in order. */
    void scan(byte[] first, int count, Each each) throws Exception;
  }

  interface Change {
    byte[] apply(byte[] value) throws IOException;
  }

  interface Each {
    void take(byte[] value) throws IOException;
  }

  private final String name;
  private final String[] durability;
  private final RefCounted<Settings, Database> shared;
  private Settings settings;
  private Database taken;

  /** The first of both kinds of {@code durability} is the default. */
  EmbeddedClient(String name, RefCounted<Settings, Database> shared, String... durability) {
    this.name = name;
    this.shared = shared;
    this.durability = durability;
  }

  @Override
  String configure(Properties p) throws DBException {
    String folder = p.getProperty(name + ".dir", "");
    if (folder.isEmpty()) {
      throw new DBException(name + ".dir: give the folder of the data");
    }
    boolean sync = Options.choice(p, name + ".durability", durability).equals("sync");
    settings = new Settings(Path.of(folder).toAbsolutePath(), sync);
    return name + " " + folder;
  }

  @Override
  Database connect() throws IOException {
    Files.createDirectories(settings.folder());
    taken = shared.take(settings);
    return taken;
  }

  /** The last client thread does it. */
  @Override
  void close(Database database) {}

  @Override
  public void cleanup() throws DBException {
    if (taken != null) {
      taken = null;
      shared.release(settings);
    }
  }

  @Override
  String remedy() {
    return "give another folder as " + name + ".dir, or end what uses this one";
  }

  @Override
  boolean isLost(Exception e) {
    return false;
  }

  @Override
  Status read(
      Database database,
      String table,
      String key,
      Set<String> fields,
      Map<String, ByteIterator> result)
      throws Exception {
    byte[] value = database.get(key.getBytes(UTF_8));
    if (value == null) {
      return Status.NOT_FOUND;
    }
    BinaryRecord.decode(value, fields, result);
    return Status.OK;
  }

  @Override
  Status insert(Database database, String table, String key, Map<String, ByteIterator> values)
      throws Exception {
    database.put(key.getBytes(UTF_8), BinaryRecord.encode(values));
    return Status.OK;
  }

  @Override
  Status update(Database database, String table, String key, Map<String, ByteIterator> values)
      throws Exception {
    byte[] name = key.getBytes(UTF_8);
    byte[] fields = BinaryRecord.encode(values);
    boolean existed = database.change(name, old -> BinaryRecord.changed(old, fields));
    return existed ? Status.OK : Status.NOT_FOUND;
  }

  @Override
  Status delete(Database database, String table, String key) throws Exception {
    return database.delete(key.getBytes(UTF_8));
  }

  @Override
  Status scan(
      Database database,
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result)
      throws Exception {
    database.scan(
        startkey.getBytes(UTF_8),
        recordcount,
        value -> {
          HashMap<String, ByteIterator> record = new HashMap<>();
          BinaryRecord.decode(value, fields, record);
          result.add(record);
        });
    return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
  }
}
