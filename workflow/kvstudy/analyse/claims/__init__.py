"""Verdicts on the source's claims, by the measured values and by its own."""
