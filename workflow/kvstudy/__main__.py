"""``python -m kvstudy`` is ``kvstudy``."""

from kvstudy.cli import main

main()
