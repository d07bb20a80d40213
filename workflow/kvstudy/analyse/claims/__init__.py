"""What the source's claims come to: asked of the measured values, and of its own."""
