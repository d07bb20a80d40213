import json
from pathlib import Path

import click

from kvstudy.commands.options import PROVIDER, configuration


@click.command("gap")
@click.argument("store")
@click.option("--provider", type=PROVIDER, default="auto", show_default=True)
@click.option("--raw", type=click.Path(path_type=Path), required=True, help="The run's raw logs.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="JSON file.")
def command(store: str, provider: str, raw: Path, output: Path) -> None:
    """Write down why STORE cannot be measured on this machine.

    The report shows the reason where the store's numbers would be, also when
    it is built again on another machine.
    """
    from kvstudy.language.reasons import sentence
    from kvstudy.measure.planning.progress import why_missing
    from kvstudy.stores import providers
    from kvstudy.stores.definition import load_store
    from kvstudy.study.load import STORES

    config = configuration()
    resolved = "native" if config.hosts.server else providers.resolve(provider, raw)
    reason = why_missing({store: load_store(STORES / store)}, config, resolved).get(store)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"reason": reason or "not measured"}) + "\n", encoding="utf-8")
    print(f"{output}: {sentence(reason or '')}")
