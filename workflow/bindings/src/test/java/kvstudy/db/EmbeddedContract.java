package kvstudy.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/** What an embedded store has to do next to that: its server is this process. */
abstract class EmbeddedContract extends RecordContract {
  private final String name;

  @TempDir Path folder;

  EmbeddedContract(String name) {
    this.name = name;
  }

  abstract DB unset();

  @Override
  DB client() {
    return client(folder.resolve("data"));
  }

  private DB client(Path data) {
    DB client = unset();
    Properties p = new Properties();
    p.setProperty(name + ".dir", data.toString());
    client.setProperties(p);
    return client;
  }

  @Override
  int largest() {
    return 16 << 20;
  }

  /** Memory is the limit. */
  @Override
  List<Integer> tooLarge() {
    return List.of();
  }

  @Test
  void whatWasLoadedIsThereForTheNextProcess() throws DBException {
    for (String durability : List.of("sync", "write")) {
      db.cleanup();
      db = client();
      db.getProperties().setProperty(name + ".durability", durability);
      db.init();
      assertEquals(Status.OK, db.insert(TABLE, key + durability, record("field0", "1")));
      disconnect();
      connect();
      assertEquals(Map.of("field0", "1"), read(key + durability, null));
    }
  }

  @Test
  void aScanIsInTheOrderOfTheKeys() {
    for (int i = 9; i >= 0; i--) {
      db.insert(TABLE, "k" + i, record("field0", "" + i, "field1", "x"));
    }
    assertEquals(List.of("3", "4", "5"), scanned("k3", 3));
    assertEquals(List.of("8", "9"), scanned("k8", 5));
    assertEquals(List.of("5"), scanned("k49", 1));
    Vector<HashMap<String, ByteIterator>> none = new Vector<>();
    assertEquals(Status.NOT_FOUND, db.scan(TABLE, "z", 3, null, none));
  }

  private List<String> scanned(String from, int count) {
    Vector<HashMap<String, ByteIterator>> result = new Vector<>();
    assertEquals(Status.OK, db.scan(TABLE, from, count, Set.of("field0"), result));
    return result.stream().map(record -> record.get("field0").toString()).toList();
  }

  @Test
  void anUpdateKeepsTheOtherFields() {
    db.insert(TABLE, key, record("field0", "1", "field1", "2"));
    assertEquals(Status.OK, db.update(TABLE, key, record("field1", "3")));
    assertEquals(Map.of("field0", "1", "field1", "3"), read(key, null));
    assertEquals(Status.NOT_FOUND, db.update(TABLE, key + "x", record("field1", "3")));
    assertEquals(Status.NOT_FOUND, read(key + "x", null));
  }

  @Test
  void badPropertiesAndFoldersAreNamed() throws IOException {
    DB none = unset();
    none.setProperties(new Properties());
    assertTold(none, name + ".dir: give the folder");
    DB wrong = client();
    wrong.getProperties().setProperty(name + ".durability", "many");
    assertTold(wrong, name + ".durability=many: give ");
    Path file = Files.createFile(folder.resolve("file"));
    assertTold(client(file), name + " " + file + " does not answer");
  }

  private static void assertTold(DB client, String text) {
    String message = assertThrows(DBException.class, client::init).getMessage();
    assertTrue(message.contains(text), message);
  }
}
