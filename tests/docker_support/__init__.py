"""A Docker daemon and images of our own, so that the Docker provider is tested for real.

The daemon is a child of the test session with directories and a socket of its own: no daemon,
image, container or network of anybody else is touched. The images are imported from the
programs that this machine has, because a test must not need an image registry.
"""
