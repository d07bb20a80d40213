"""Logs of YCSB: read, checked, and brought in from elsewhere."""
