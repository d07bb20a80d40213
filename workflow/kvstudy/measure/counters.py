"""What a server counted while a phase ran: its own counters, before and after."""

from __future__ import annotations

from kvstudy.errors import KvstudyError
from kvstudy.stores.definition import Store
from kvstudy.stores.server import Server, ask

Counters = dict[str, int] | None


def counters(store: Store, server: Server) -> Counters:
    """The server's running totals under its own names; None when the store tells none.

    KvstudyError when the counter that store.yaml names for misses is not among them.
    """
    told = ask(store, server, "counters")
    if store.misses and store.misses not in (told or {}):
        raise KvstudyError(
            f"{store.file}: misses: {store.title} has no counter '{store.misses}'; "
            f"counters() in verbs.py tells of: {', '.join(told or {}) or 'nothing'}"
        )
    return told


def moved(store: Store, before: Counters, after: Counters) -> Counters:
    """The counters that moved, and by how much; None when the store tells none.

    KvstudyError for a counter that fell or vanished: then the server was started
    anew, and what it held and counted before is lost.
    """
    if before is None or after is None:
        return None
    change = {name: after.get(name, 0) - before.get(name, 0) for name in before | after}
    for name, count in change.items():
        if count < 0:
            raise KvstudyError(
                f"{store.title}: its counter {name} fell by {-count}; was the server started anew?"
            )
    return {name: count for name, count in change.items() if count}
