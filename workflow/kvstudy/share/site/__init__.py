"""Static web sites of finished runs."""
