package kvstudy.db;

import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteOptions;
import site.ycsb.Status;

/**
 * YCSB on RocksDB, with the record layout of YCSB's own binding.
 *
 * <ul>
 *   <li>read: Get
 *   <li>insert: Put; an existing record is overwritten
 *   <li>update: Get, then Put of the whole record; of two threads that update one record at a time
 *       the later one wins, as with YCSB's binding
 *   <li>delete: Delete, which does not show whether there was such a key
 *   <li>scan: an iterator from the key on
 * </ul>
 *
 * <p>Different from YCSB's binding: RocksDB has its own settings (YCSB's gives it as many
 * background threads as there are cores), one column family holds all, and a missing record is
 * NOT_FOUND (YCSB's says ERROR for an update).
 *
 * <p>Properties: see {@link EmbeddedClient}; {@code rocksdb.durability} is {@code write}.
 */
public class RocksDbClient extends EmbeddedClient {
  private static final RefCounted<Settings, Database> OPEN = new RefCounted<>(Opened::new);

  // Before YCSB's clock runs: it unpacks a library of 80 MB.
  static {
    RocksDB.loadLibrary();
  }

  public RocksDbClient() {
    super("rocksdb", OPEN, "write", "sync");
  }

  private static final class Opened implements Database {
    private final Options options = new Options().setCreateIfMissing(true);
    private final WriteOptions writing;
    private final RocksDB rocksdb;

    Opened(Settings settings) {
      writing = new WriteOptions().setSync(settings.sync());
      try {
        rocksdb = RocksDB.open(options, settings.folder().toString());
      } catch (RocksDBException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public byte[] get(byte[] key) throws RocksDBException {
      return rocksdb.get(key);
    }

    @Override
    public void put(byte[] key, byte[] value) throws RocksDBException {
      rocksdb.put(writing, key, value);
    }

    @Override
    public boolean change(byte[] key, Change change) throws Exception {
      byte[] old = rocksdb.get(key);
      if (old == null) {
        return false;
      }
      rocksdb.put(writing, key, change.apply(old));
      return true;
    }

    @Override
    public Status delete(byte[] key) throws RocksDBException {
      rocksdb.delete(writing, key);
      return Status.OK;
    }

    @Override
    public void scan(byte[] first, int count, Each each) throws Exception {
      try (RocksIterator at = rocksdb.newIterator()) {
        int left = count;
        for (at.seek(first); at.isValid() && left > 0; at.next()) {
          each.take(at.value());
          left--;
        }
        at.status();
      }
    }

    @Override
    public void close() {
      rocksdb.close();
      writing.close();
      options.close();
    }
  }
}
