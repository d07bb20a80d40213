"""Addresses of servers that run already."""

from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.stores.definition import load_store
from kvstudy.stores.providers import ExternalServer, missing_requirement

REDIS = load_store(Path(__file__).parents[2] / "envs" / "stores" / "redis")


@pytest.mark.parametrize(
    ("address", "parts"),
    [("127.0.0.1:6379", ("127.0.0.1", 6379)), ("[::1]:6379", ("::1", 6379)), ("db:1", ("db", 1))],
)
def test_an_address_has_host_and_port(address, parts):
    server = ExternalServer(REDIS, address)
    assert (server.host, server.port) == parts


@pytest.mark.parametrize("address", ["6379", "db", "db:", ":6379", "db:port", "db:99999"])
def test_what_is_no_address_is_named(address):
    with pytest.raises(KvstudyError, match=r"external\.servers\.redis: .* is not host:port"):
        ExternalServer(REDIS, address)


def test_a_store_without_address_names_the_key():
    reply = missing_requirement(REDIS, "external")
    assert "set config/config.yaml: external.servers.redis to host:port" in reply
