"""What is asked of DynamoDB Local, in its JSON over HTTP; it checks no signature."""

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

TABLE = "usertable"
TIMEOUT = 30.0
SIGNED = (
    "AWS4-HMAC-SHA256 Credential=kvstudy/20240101/local/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=none"
)


def version(host: str, port: int) -> str:
    """The version of the file in servers/: the server does not tell it."""
    _ask(host, port, "ListTables", {})
    for path in Path("servers/dynamodb/lib").glob("DynamoDBLocal-*.jar"):
        return re.sub(r"DynamoDBLocal-(.*)\.jar", r"\1", path.name)
    return "unknown"


def create(host: str, port: int, fields: Sequence[str] = ()) -> None:
    """The empty table; its items may have any attributes."""
    _ask(
        *(host, port, "CreateTable"),
        {
            "TableName": TABLE,
            "AttributeDefinitions": [{"AttributeName": "_key", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "_key", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    while _described(host, port)["TableStatus"] != "ACTIVE":
        time.sleep(0.05)


def records(host: str, port: int) -> int:
    """How many items there are; none without the table."""
    return _described(host, port).get("ItemCount", 0)


def empty(host: str, port: int) -> None:
    """Remove the table, if there is one."""
    if _described(host, port):
        _ask(host, port, "DeleteTable", {"TableName": TABLE})


def record_bytes(host: str, port: int) -> float | None:
    """Mean size of an item: its names and values."""
    table = _described(host, port)
    return table["TableSizeBytes"] / table["ItemCount"] if table.get("ItemCount") else None


def _described(host: str, port: int) -> dict:
    if TABLE not in _ask(host, port, "ListTables", {})["TableNames"]:
        return {}
    return _ask(host, port, "DescribeTable", {"TableName": TABLE})["Table"]


def _ask(host: str, port: int, action: str, question: dict) -> dict:
    request = urllib.request.Request(
        f"http://{host}:{port}/",
        json.dumps(question).encode(),
        {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{action}",
            "Authorization": SIGNED,
        },
    )
    # Not through a proxy that the environment names.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=TIMEOUT) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        raise ValueError(f"{action}: {error}: {error.read().decode(errors='replace')}") from None
    except http.client.HTTPException as error:
        raise ValueError(f"{host}:{port} is no DynamoDB: {error!r}") from None
