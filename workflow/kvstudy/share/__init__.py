"""Outputs that can be checked elsewhere: archives, and the origin of numbers."""
