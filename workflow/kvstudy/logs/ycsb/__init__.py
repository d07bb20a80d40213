"""Reading what YCSB printed."""
