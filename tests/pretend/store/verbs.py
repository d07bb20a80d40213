"""The pretended server tells its version and how many records it claims to hold."""

from kvstudy.stores.ask import ask


def version(host, port):
    return ask(host, port, "?", until="\r\n").split()[1]


def records(host, port):
    return int(ask(host, port, "?", until="\r\n").split()[2])
