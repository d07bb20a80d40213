"""Measuring one cell: server, YCSB client, raw logs."""
