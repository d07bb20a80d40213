"""RocksDB has no server that could be asked."""

from kvstudy.stores.ask import version_of


def version(host: str, port: int) -> str:
    """The version of the library, such as ``10.10.1.1``."""
    return version_of("rocksdbjni")


def records(host: str, port: int) -> None:
    """YCSB's process alone could count them, and would count that time."""
