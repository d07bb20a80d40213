package kvstudy.db;

import site.ycsb.Status;

/** A client that can empty a table at once; YCSB's interface has no such operation. */
public interface Emptying {
  /** Removes all records. {@link Status#OK} when none is left. */
  Status empty(String table);
}
