"""BasicDB has no server: its version is YCSB's, and it stores nothing."""


def version(host: str, port: int) -> str:
    """The version of YCSB that BasicDB is a part of."""
    return "0.17.0"


def records(host: str, port: int) -> None:
    """Nothing is stored, so there is nothing to count."""
