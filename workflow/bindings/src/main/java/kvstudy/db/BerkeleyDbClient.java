package kvstudy.db;

import com.sleepycat.je.Cursor;
import com.sleepycat.je.DatabaseConfig;
import com.sleepycat.je.DatabaseEntry;
import com.sleepycat.je.Durability;
import com.sleepycat.je.Environment;
import com.sleepycat.je.EnvironmentConfig;
import com.sleepycat.je.LockMode;
import com.sleepycat.je.OperationStatus;
import com.sleepycat.je.Transaction;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import site.ycsb.Status;

/**
 * YCSB on Berkeley DB Java Edition, which YCSB has no binding for.
 *
 * <ul>
 *   <li>read: get
 *   <li>insert: put in a transaction of its own; an existing record is overwritten
 *   <li>update: a transaction of a get that locks the record, and a put of the whole record
 *   <li>delete: in a transaction of its own
 *   <li>scan: a cursor from the key on
 * </ul>
 *
 * <p>Properties: see {@link EmbeddedClient}; {@code berkeleydb.durability} is {@code sync}.
 */
public class BerkeleyDbClient extends EmbeddedClient {
  private static final RefCounted<Settings, Database> OPEN = new RefCounted<>(Opened::new);

  public BerkeleyDbClient() {
    super("berkeleydb", OPEN, "sync", "write");
  }

  static final class Opened implements Database {
    private final Environment environment;
    private final com.sleepycat.je.Database records;

    Opened(Settings settings) {
      EnvironmentConfig config = new EnvironmentConfig();
      config.setAllowCreate(true);
      config.setTransactional(true);
      // As shipped, 500 ms: a busy disk held a record's lock for longer, and two updates failed.
      config.setLockTimeout(0, TimeUnit.MILLISECONDS);
      config.setDurability(
          settings.sync() ? Durability.COMMIT_SYNC : Durability.COMMIT_WRITE_NO_SYNC);
      environment = new Environment(settings.folder().toFile(), config);
      DatabaseConfig table = new DatabaseConfig();
      table.setAllowCreate(true);
      table.setTransactional(true);
      records = environment.openDatabase(null, "usertable", table);
    }

    @Override
    public byte[] get(byte[] key) {
      return get(null, key, LockMode.DEFAULT);
    }

    private byte[] get(Transaction inside, byte[] key, LockMode mode) {
      DatabaseEntry value = new DatabaseEntry();
      OperationStatus status = records.get(inside, new DatabaseEntry(key), value, mode);
      return status == OperationStatus.SUCCESS ? value.getData() : null;
    }

    @Override
    public void put(byte[] key, byte[] value) {
      records.put(null, new DatabaseEntry(key), new DatabaseEntry(value));
    }

    @Override
    public boolean change(byte[] key, Change change) throws IOException {
      Transaction transaction = environment.beginTransaction(null, null);
      try {
        byte[] old = get(transaction, key, LockMode.RMW);
        if (old != null) {
          DatabaseEntry value = new DatabaseEntry(change.apply(old));
          records.put(transaction, new DatabaseEntry(key), value);
        }
        transaction.commit();
        return old != null;
      } finally {
        // Nothing after a commit.
        transaction.abort();
      }
    }

    @Override
    public Status delete(byte[] key) {
      OperationStatus status = records.delete(null, new DatabaseEntry(key));
      return status == OperationStatus.SUCCESS ? Status.OK : Status.NOT_FOUND;
    }

    @Override
    public void scan(byte[] first, int count, Each each) throws Exception {
      DatabaseEntry key = new DatabaseEntry(first);
      DatabaseEntry value = new DatabaseEntry();
      try (Cursor at = records.openCursor(null, null)) {
        OperationStatus status = at.getSearchKeyRange(key, value, LockMode.DEFAULT);
        for (int left = count; status == OperationStatus.SUCCESS && left > 0; left--) {
          each.take(value.getData());
          status = left > 1 ? at.getNext(key, value, LockMode.DEFAULT) : null;
        }
      }
    }

    @Override
    public void close() {
      records.close();
      environment.close();
    }
  }
}
