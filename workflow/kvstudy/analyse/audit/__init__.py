"""Whether what a source printed can be true together: its tables, and its text against them."""
