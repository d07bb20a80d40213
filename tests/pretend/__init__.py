"""Pretended programs: they let the life cycle of a cell be tested without a server."""
