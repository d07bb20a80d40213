"""The pretended server shows its version and how many records it claims to hold."""

from kvstudy.stores.ask import ask


def version(host, port):
    return ask(host, port, "?", until="\r\n").split()[1]


def records(host, port):
    return int(ask(host, port, "?", until="\r\n").split()[2])


def counters(host, port):
    reply = ask(host, port, "?", until="\r\n").split()[3:]
    totals = {"get_misses": 0}
    for name, count in zip(reply[::2], reply[1::2], strict=True):
        totals[name] = totals.get(name, 0) + int(count)
    return totals


def record_bytes(host, port):
    """Each update takes a byte of every record."""
    return 1000.0 - counters(host, port).get("UPDATE", 0) / 1000
