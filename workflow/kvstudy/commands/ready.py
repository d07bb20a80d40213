import click


@click.command("ready")
@click.argument("store")
@click.option("--address", required=True, help="host:port of the server.")
@click.option("--fields", default="", help="Fields of a record, with commas [default: YCSB's].")
def command(store: str, address: str, fields: str) -> None:
    """Wait until a server of STORE, started by hand, can be loaded.

    Prints the version that it tells, and makes the empty table that YCSB needs,
    if the store has tables. A server that holds records already is refused.
    """
    from kvstudy.stores.definition import load_store
    from kvstudy.stores.providers import make_ready
    from kvstudy.study.load import STORES
    from kvstudy.study.workload import field_names

    loaded = load_store(STORES / store)
    version = make_ready(loaded, address, fields.split(",") if fields else field_names({}))
    print(f"{loaded.title} {version} at {address} is ready")
