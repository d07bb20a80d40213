package kvstudy.db;

import site.ycsb.Status;

/** A client that can empty a table at once; YCSB's interface has no such operation. */
public interface Truncatable {
  /** Removes all records; returns {@link Status#OK} if none is left. */
  Status empty(String table);
}
