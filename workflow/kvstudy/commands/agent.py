import click


@click.command("agent", hidden=True)
@click.argument("folder")
def command(folder: str) -> None:
    """Run server and clients on this host for a cell that is led from another; works in FOLDER."""
    import os

    from kvstudy.errors import KvstudyError
    from kvstudy.measure.agent import serve
    from kvstudy.measure.controller import stop_on_signals

    stop_on_signals()
    try:
        os.chdir(folder)
    except OSError as error:
        raise KvstudyError(
            f"{folder}: {error.strerror} on this host; the clone must be at the same path on all "
            "hosts, on a file system that they share"
        ) from None
    serve()
