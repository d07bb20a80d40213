"""Archives of runs: packed for others, checked and built again by them."""
