"""What is asked of an etcd server, through its gateway for JSON over HTTP."""

import base64
import http.client
import json
import re
import urllib.request

TIMEOUT = 2.0
# As a key: from the first one on; as the end of a range: to the last one.
ALL = base64.b64encode(b"\0").decode()
# Records that stand for all.
SAMPLE = 500
COUNTERS = re.compile(r"^etcd_(?:debugging_)?mvcc_(put|range|delete|txn)_total (\S+)$", re.M)


def version(host: str, port: int) -> str:
    """The server's version, when it has a leader and serves."""
    data = json.loads(_get(host, port, "version")).get("etcdserver")
    if data is None:
        raise ValueError(f"{host}:{port} is no etcd: it tells no version")
    records(host, port)
    return data


def records(host: str, port: int) -> int:
    """How many keys there are."""
    reply = _post(host, port, "kv/range", {"key": ALL, "range_end": ALL, "count_only": True})
    return int(reply.get("count", 0))


def empty(host: str, port: int) -> None:
    """Delete all records; their history stays."""
    _post(host, port, "kv/deleterange", {"key": ALL, "range_end": ALL})


def counters(host: str, port: int) -> dict[str, int]:
    """Ranges, puts, deletes and transactions (of several of these)."""
    matches = COUNTERS.findall(_get(host, port, "metrics"))
    return {name: int(float(count)) for name, count in matches}


def record_bytes(host: str, port: int) -> float | None:
    """Mean bytes of a key and its value."""
    reply = _post(host, port, "kv/range", {"key": ALL, "range_end": ALL, "limit": SAMPLE})
    sizes = [
        len(base64.b64decode(record["key"])) + len(base64.b64decode(record["value"]))
        for record in reply.get("kvs", [])
    ]
    return sum(sizes) / len(sizes) if sizes else None


def _get(host: str, port: int, path: str) -> str:
    return _answer(f"http://{host}:{port}/{path}")


def _post(host: str, port: int, path: str, question: dict) -> dict:
    return json.loads(_answer(f"http://{host}:{port}/v3/{path}", json.dumps(question).encode()))


def _answer(address: str, body: bytes | None = None) -> str:
    # Not through a proxy that the environment names.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, body, TIMEOUT) as answer:
            return answer.read().decode()
    except http.client.HTTPException as error:
        raise ValueError(f"{address} is no etcd: {error!r}") from None
