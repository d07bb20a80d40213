"""Berkeley DB has no server that could be asked."""

from kvstudy.stores.ask import version_of


def version(host: str, port: int) -> str:
    """The version of the library, such as ``18.3.12``."""
    return version_of("je")


def records(host: str, port: int) -> None:
    """YCSB's process alone could count them, and would count that time."""
