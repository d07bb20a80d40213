package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import site.ycsb.DB;

class BerkeleyDbContractTest extends EmbeddedContract {
  BerkeleyDbContractTest() {
    super("berkeleydb");
  }

  @Override
  DB unset() {
    return new BerkeleyDbClient();
  }

  @Test
  void anOperationWaitsForALockedRecordForLongerThanTheStoreDoesAsShipped() throws Exception {
    byte[] name = {1};
    var settings =
        new EmbeddedClient.Settings(Files.createDirectory(folder.resolve("lock")), false);
    try (var store = new BerkeleyDbClient.Opened(settings)) {
      store.put(name, new byte[] {1});
      CountDownLatch locked = new CountDownLatch(1);
      var slow =
          CompletableFuture.runAsync(
              () -> {
                try {
                  store.change(name, old -> after(locked, 2));
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      locked.await();
      store.change(name, old -> new byte[] {old[0], 3});
      slow.join();
      assertArrayEquals(new byte[] {2, 3}, store.get(name));
    }
  }

  /** The new value, 800 ms after the latch is opened. */
  private static byte[] after(CountDownLatch locked, int value) {
    locked.countDown();
    try {
      Thread.sleep(800);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return new byte[] {(byte) value};
  }
}
