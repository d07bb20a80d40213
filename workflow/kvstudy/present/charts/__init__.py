"""Interactive figures: Vega-Lite specifications made from the figures' CSV."""
