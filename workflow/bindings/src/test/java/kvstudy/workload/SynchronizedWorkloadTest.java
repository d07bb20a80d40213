package kvstudy.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import site.ycsb.DB;
import site.ycsb.Workload;
import site.ycsb.WorkloadException;

class SynchronizedWorkloadTest {
  private final ExecutorService pool = Executors.newCachedThreadPool();

  @AfterEach
  void end() {
    pool.shutdownNow();
  }

  /** Counts what it is asked to do, and ends itself after ten operations. */
  public static class Counting extends Workload {
    private int done;

    @Override
    public boolean doInsert(DB db, Object threadState) {
      return false;
    }

    @Override
    public boolean doTransaction(DB db, Object threadState) {
      if (++done == 10) {
        requestStop();
      }
      return true;
    }
  }

  private static SynchronizedWorkload workload(String at) throws WorkloadException {
    Properties p = new Properties();
    p.setProperty(SynchronizedWorkload.WORKLOAD, Counting.class.getName());
    p.setProperty(SynchronizedWorkload.AT, at);
    SynchronizedWorkload workload = new SynchronizedWorkload();
    workload.init(p);
    return workload;
  }

  private Future<Object> begins(SynchronizedWorkload workload, int thread, int threads) {
    return pool.submit(() -> workload.initThread(new Properties(), thread, threads));
  }

  @Test
  void noThreadBeginsBeforeAllOfAllClientsAreConnected() throws Exception {
    try (ServerSocket all = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      SynchronizedWorkload first = workload("127.0.0.1:" + all.getLocalPort());
      SynchronizedWorkload second = workload("127.0.0.1:" + all.getLocalPort());
      Future<Object> alone = begins(first, 0, 1);
      try (Socket one = all.accept()) {
        assertEquals(1, one.getInputStream().read());
        Future<Object> half = begins(second, 0, 2);
        Future<Object> other = begins(second, 1, 2);
        try (Socket two = all.accept()) {
          assertEquals(1, two.getInputStream().read());
          assertFalse(alone.isDone() || half.isDone() || other.isDone());
          two.getOutputStream().write(1);
          half.get();
          other.get();
        }
        assertFalse(alone.isDone());
        one.getOutputStream().write(1);
        alone.get();
      }
    }
  }

  @Test
  void whoIsNotLetGoDoesNothing() throws Exception {
    try (ServerSocket all = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Future<Object> thread = begins(workload("127.0.0.1:" + all.getLocalPort()), 0, 1);
      all.accept().close();
      assertTrue(
          assertThrows(ExecutionException.class, thread::get)
              .getCause()
              .getMessage()
              .contains("the other clients did not begin"));
    }
  }

  @Test
  void itSaysWhenItBeganAndEnded() throws Exception {
    PrintStream before = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said));
    try {
      SynchronizedWorkload workload = workload("");
      Object state = workload.initThread(new Properties(), 0, 1);
      while (!workload.isStopRequested()) {
        assertTrue(workload.doTransaction(null, state));
      }
      assertFalse(workload.doInsert(null, state));
      workload.cleanup();
    } finally {
      System.setErr(before);
    }
    String clock = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d:\\d{3}";
    String[] lines = said.toString().split("\n");
    assertEquals(2, lines.length);
    assertTrue(lines[0].matches(clock + " together: began"), lines[0]);
    assertTrue(lines[1].matches(clock + " together: ended"), lines[1]);
    assertTrue(lines[0].substring(0, 23).compareTo(lines[1].substring(0, 23)) <= 0);
  }

  @Test
  void aClassThatIsNoWorkloadIsNamed() {
    Properties p = new Properties();
    p.setProperty(SynchronizedWorkload.WORKLOAD, "java.lang.String");
    WorkloadException problem =
        assertThrows(WorkloadException.class, () -> new SynchronizedWorkload().init(p));
    assertTrue(problem.getMessage().contains("'java.lang.String' is no class of a workload"));
  }
}
