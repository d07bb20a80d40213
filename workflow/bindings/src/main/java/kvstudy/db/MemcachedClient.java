package kvstudy.db;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.TimeoutException;
import net.rubyeye.xmemcached.XMemcachedClientBuilder;
import net.rubyeye.xmemcached.exception.MemcachedException;
import net.rubyeye.xmemcached.transcoders.BaseSerializingTranscoder;
import net.rubyeye.xmemcached.transcoders.CachedData;
import net.rubyeye.xmemcached.transcoders.CompressionMode;
import net.rubyeye.xmemcached.transcoders.Transcoder;
import net.rubyeye.xmemcached.utils.AddrUtil;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/** YCSB on Memcached, with the record layout of YCSB's own binding. */
public class MemcachedClient extends DB {
  private net.rubyeye.xmemcached.MemcachedClient client;
  private Failures failures;
  private String hosts;
  private int expiration;

  @Override
  public void init() throws DBException {
    Properties p = getProperties();
    hosts = p.getProperty("memcached.hosts", "127.0.0.1:11211");
    int timeout = Options.integer(p, "memcached.opTimeoutMillis", 2000, 1, Integer.MAX_VALUE);
    expiration =
        Options.integer(p, "memcached.objectExpirationTime", Integer.MAX_VALUE, 0,
            Integer.MAX_VALUE);
    failures = new Failures("memcached " + hosts);
    try {
      XMemcachedClientBuilder builder =
          new XMemcachedClientBuilder(AddrUtil.getAddresses(hosts.replace(',', ' ')));
      builder.setConnectionPoolSize(1);
      builder.setSelectorPoolSize(1);
      builder.setConnectTimeout(timeout);
      builder.setOpTimeout(timeout);
      builder.setHealSessionInterval(200);
      builder.getConfiguration().setStatisticsServer(false);
      client = builder.build();
      client.setOptimizeGet(false);
      client.setOptimizeMergeBuffer(false);
      client.setEnableHeartBeat(false);
      client.getVersions();
    } catch (Exception e) {
      cleanup();
      throw new DBException(
          String.format(
              "memcached %s does not answer (%s): start the server, or set memcached.hosts",
              hosts, Failures.summary(e)),
          e);
    }
  }

  @Override
  public void cleanup() {
    if (client != null) {
      try {
        client.shutdown();
      } catch (IOException e) {
        // nothing is left to do with it
      }
      client = null;
    }
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return attempt(
        "read",
        () -> {
          byte[] record = client.get(table + "-" + key, BYTES);
          if (record == null) {
            return Status.NOT_FOUND;
          }
          JsonRecord.decode(record, fields, result);
          return Status.OK;
        });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return attempt(
        "insert",
        () ->
            client.add(table + "-" + key, expiration, JsonRecord.encode(values), BYTES)
                ? Status.OK
                : failures.error("insert", "NOT_STORED, the key exists"));
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return attempt(
        "update",
        () ->
            client.replace(table + "-" + key, expiration, JsonRecord.encode(values), BYTES)
                ? Status.OK
                : Status.NOT_FOUND);
  }

  @Override
  public Status delete(String table, String key) {
    return attempt(
        "delete", () -> client.delete(table + "-" + key) ? Status.OK : Status.NOT_FOUND);
  }

  @Override
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }

  private interface Operation {
    Status run() throws IOException, InterruptedException, TimeoutException, MemcachedException;
  }

  private Status attempt(String name, Operation operation) {
    try {
      return operation.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return failures.error(name, e);
    } catch (IOException | TimeoutException | MemcachedException | RuntimeException e) {
      return failures.error(name, e);
    }
  }

  private static final Transcoder<byte[]> BYTES = new Bytes();

  private static final class Bytes extends BaseSerializingTranscoder implements Transcoder<byte[]> {
    @Override
    public CachedData encode(byte[] value) {
      return new CachedData(0, value);
    }

    @Override
    public byte[] decode(CachedData data) {
      return data.getData();
    }

    @Override
    public void setPrimitiveAsString(boolean on) {}

    @Override
    public void setPackZeros(boolean on) {}

    @Override
    public boolean isPrimitiveAsString() {
      return false;
    }

    @Override
    public boolean isPackZeros() {
      return false;
    }

    @Override
    public void setCompressionMode(CompressionMode mode) {}
  }
}
