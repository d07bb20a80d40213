package kvstudy.workload;

import java.io.IOException;
import java.net.Socket;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import site.ycsb.DB;
import site.ycsb.Workload;
import site.ycsb.WorkloadException;

/**
 * A wrapper of another workload that several clients start at the same moment.
 *
 * <p>When all threads of a client are connected, it sends one byte to {@code together.at} and waits
 * for a byte in return. YCSB's own run time includes the waiting, so the client prints to standard
 * error when its first operation began and its last one ended, with the clock and in the form of
 * YCSB's status lines.
 *
 * <p>Properties: {@code together.workload} (the class of the workload), {@code together.at}
 * (host:port; without it the client begins by itself).
 */
public class SynchronizedWorkload extends Workload {
  static final String WORKLOAD = "together.workload";
  static final String AT = "together.at";

  /** Drivers connect to slow servers for some seconds, and clients start one after the other. */
  private static final int TIMEOUT_MS = 60_000;

  private final CountDownLatch go = new CountDownLatch(1);
  private final AtomicInteger connected = new AtomicInteger();
  private final Queue<ThreadState> threads = new ConcurrentLinkedQueue<>();
  private Workload workload;
  private String at;
  private volatile boolean timedOut;
  private volatile long began;

  /** The wrapped workload's state of a thread, and the end of the thread's last operation. */
  private static final class ThreadState {
    private final Object inner;
    private long ended;

    ThreadState(Object inner) {
      this.inner = inner;
    }
  }

  @Override
  public void init(Properties p) throws WorkloadException {
    super.init(p);
    at = p.getProperty(AT, "");
    String name = p.getProperty(WORKLOAD, "");
    try {
      workload = Class.forName(name).asSubclass(Workload.class).getConstructor().newInstance();
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new WorkloadException(WORKLOAD + ": '" + name + "' is no class of a workload", e);
    }
    workload.init(p);
  }

  @Override
  public Object initThread(Properties p, int id, int count) throws WorkloadException {
    ThreadState state = new ThreadState(workload.initThread(p, id, count));
    threads.add(state);
    if (connected.incrementAndGet() == count) {
      timedOut = !at.isEmpty() && !awaitStart();
      began = System.nanoTime();
      log("began", System.currentTimeMillis());
      go.countDown();
    }
    try {
      timedOut |= !go.await(2 * TIMEOUT_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new WorkloadException("interrupted while it waited for the other clients", e);
    }
    if (timedOut) {
      throw new WorkloadException("the other clients did not begin, or " + AT + " is wrong");
    }
    state.ended = began;
    return state;
  }

  private boolean awaitStart() {
    int colon = at.lastIndexOf(':');
    int port = Integer.parseInt(at.substring(colon + 1));
    try (Socket all = new Socket(at.substring(0, colon), port)) {
      all.setSoTimeout(TIMEOUT_MS);
      all.getOutputStream().write(1);
      return all.getInputStream().read() >= 0;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public boolean doInsert(DB db, Object threadState) {
    ThreadState state = (ThreadState) threadState;
    boolean proceed = workload.doInsert(db, state.inner);
    state.ended = System.nanoTime();
    return proceed;
  }

  @Override
  public boolean doTransaction(DB db, Object threadState) {
    ThreadState state = (ThreadState) threadState;
    boolean proceed = workload.doTransaction(db, state.inner);
    state.ended = System.nanoTime();
    return proceed;
  }

  /** A workload may end itself, for example when there is nothing left to read. */
  @Override
  public boolean isStopRequested() {
    return super.isStopRequested() || workload.isStopRequested();
  }

  @Override
  public void cleanup() throws WorkloadException {
    // Nanoseconds are comparable only by their differences.
    long last = threads.stream().mapToLong(state -> state.ended - began).max().orElse(0);
    long now = System.currentTimeMillis();
    log("ended", now - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began - last));
    workload.cleanup();
  }

  private static void log(String what, long time) {
    String clock = new SimpleDateFormat("yyyy-MM-dd HH:mm:ss:SSS").format(new Date(time));
    System.err.println(clock + " together: " + what);
  }
}
