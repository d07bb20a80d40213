"""What a study will take before it is measured, and what is left of it while it is."""
