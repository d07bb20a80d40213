import functools
import json
import re
from pathlib import Path

import click

from kvstudy.errors import InputError, KvstudyError
from kvstudy.render import templates
from kvstudy.stores.definition import StoreFile
from kvstudy.study.controls import AGAIN, CEILING
from kvstudy.study.load import STORES, STUDIES, load_study, project_stores
from kvstudy.study.naming import check_known
from kvstudy.study.parts import MEAN
from kvstudy.study.reading import read_yaml
from kvstudy.study.workload import WORKLOADS, project_workloads

COUNT = click.IntRange(min=1)


class Several(click.ParamType):
    """Values with commas between them, each of the ``kind``."""

    name = "several"

    def __init__(self, kind: click.ParamType) -> None:
        self.kind = kind

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> list:
        parts = [part.strip() for part in str(value).split(",") if part.strip()]
        if not parts:
            self.fail(f"'{value}' names nothing", param, ctx)
        return [self.kind.convert(part, param, ctx) for part in parts]


SIZES = {
    **{"type": Several(COUNT), "multiple": True, "show_default": True},
    "metavar": "NUMBER[,...]",
}
NAMES = {"type": Several(click.STRING), "multiple": True, "metavar": "NAME[,...]"}
OFTEN = "repeat the option, or separate with commas."
TEMPLATES = Path(__file__).with_name("scaffold")
# Further colours for stores, told apart by most people with a colour deficiency.
COLORS = ("#332288", "#44aa99", "#882255", "#ddcc77", "#117733", "#aa4499", "#999933", "#661100")
# Folders of results/ that are no study's.
TAKEN = ("single-cells", "calibration", "comparisons")


@click.group("new")
def new() -> None:
    """Create a commented template of a study, a store or a workload.

    Existing files are never overwritten.
    """


@new.command("study")
@click.argument("name")
@click.option("--title", help="The report's title.")
@click.option("--question", help="The question that the study answers.")
@click.option("--store", "stores", **NAMES, help=f"A store of the study; {OFTEN}")
@click.option("--workload", "workloads", **NAMES, help=f"A workload of the study; {OFTEN}")
@click.option("--records", **SIZES, default=["100000"], help=f"Records; {OFTEN}")
@click.option("--operations", **SIZES, default=["1000000"], help=f"Operations; {OFTEN}")
@click.option("--threads", **SIZES, default=["4"], help=f"Client threads; {OFTEN}")
@click.option("--repetitions", type=COUNT, default=5, show_default=True)
def study(
    name: str,
    title: str | None,
    question: str | None,
    stores: tuple[list[str], ...],
    workloads: tuple[list[str], ...],
    repetitions: int,
    **sizes: tuple[list[int], ...],
) -> None:
    """Create config/studies/NAME/study.yaml.

    Asks for what no option gives.
    """
    path = _place(STUDIES, name, "study", TAKEN, ("-partial",)) / "study.yaml"
    values = {
        "name": name,
        "title": title or _plain(name),
        "repetitions": repetitions,
        "question": question or "Which of the stores is faster, under which workload?",
        "stores": _several("store", _flat(stores), project_stores()),
        "workloads": _several("workload", _flat(workloads), project_workloads()),
        **{key: ", ".join(map(str, _flat(lists))) for key, lists in sizes.items()},
        # Sizes of several values, which tables and bars show the last of.
        "sweeps": [key for key, lists in sizes.items() if len(_flat(lists)) > 1],
    }
    _write(path, "study.yaml.j2", values)
    try:
        load_study(path)
    except KvstudyError:
        # What cannot be loaded is no first version; the error says which answer was wrong.
        path.unlink()
        path.parent.rmdir()
        raise
    click.echo(
        f"{path}: edit it, then\n  kvstudy plan {name}\n  snakemake --cores 4 --config study={name}"
    )


@new.command("store")
@click.argument("name")
@click.option("--title", help="The store's name in text, tables and figures.")
def store(name: str, title: str | None) -> None:
    """Create envs/stores/NAME/ with store.yaml and verbs.py."""
    folder = _place(STORES, name, "store", (CEILING.name,), (AGAIN, "-client", "-clients"))
    used = {read_yaml(file, StoreFile).color for file in STORES.glob("*/store.yaml")}
    color = next((color for color in COLORS if color not in used), COLORS[0])
    values = {"name": name, "title": title or _plain(name), "color": color}
    for file in ("store.yaml", "verbs.py"):
        _write(folder / file, f"{file}.j2", values)
    click.echo(
        f"{folder}: fill in store.yaml and verbs.py. YCSB needs a binding for it;\n"
        "workflow/bindings/README.md shows how to write one, if none fits. Then\n"
        "  kvstudy doctor                what is still missing\n"
        f"  kvstudy run --store {name}\n"
        "  kvstudy schema                describes it in docs/stores.md"
    )


@new.command("workload")
@click.argument("name")
def workload(name: str) -> None:
    """Create workloads/NAME, a property file of YCSB."""
    path = _place(WORKLOADS, name, "workload", (MEAN,))
    _write(path, "workload.j2", {"name": name})
    click.echo(
        f"{path}: edit it, name it under workloads: of a study, or try it:\n"
        f"  kvstudy run --workload {name}"
    )


def _place(
    room: Path, name: str, kind: str, taken: tuple[str, ...], endings: tuple[str, ...] = ()
) -> Path:
    """Return the target folder; InputError for an invalid name, with a valid one."""
    if not STUDIES.is_dir():
        raise InputError(f"{STUDIES}: no such folder; run kvstudy in the project's folder")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        better = better if better[:1].isalpha() else f"{kind}-{better}".rstrip("-")
        raise InputError(
            f"{kind} '{name}': a name has small letters, digits and -, and begins with a letter; "
            f"take '{better}'"
        )
    given = f"{kind} '{name}': kvstudy gives this"
    if name in taken:
        raise InputError(f"{given} name to something else; take 'my-{name}'")
    if name.endswith(endings):
        raise InputError(f"{given} ending to something else; take another")
    if (room / name).exists():
        raise InputError(f"{room / name}: already exists; edit it, or take another name")
    return room / name


def _flat(lists: tuple[list, ...]) -> list:
    """The values of all lists, each once."""
    return list(dict.fromkeys(value for values in lists for value in values))


def _several(kind: str, names: list[str], known: list[str]) -> list[str]:
    """The names that were given or are asked for; InputError for an unknown one."""
    if not names:
        answer = click.prompt(f"{kind.capitalize()}s, with commas ({', '.join(known)})")
        names = [name.strip() for name in answer.split(",") if name.strip()]
    for name in names:
        check_known(f"--{kind}", kind, name, known)
    if not names:
        raise InputError(f"--{kind}: name at least one of {', '.join(known)}")
    return list(dict.fromkeys(names))


def _write(path: Path, template: str, values: dict) -> None:
    # A YAML text may be written as one of JSON.
    filters = {
        "quoted": functools.partial(json.dumps, ensure_ascii=False),
        "sizes": lambda text: f"[{text}]" if "," in text else text,
    }
    text = templates.fill(TEMPLATES / template, values, filters)
    path.parent.mkdir(exist_ok=True)
    # x: not even a file that came in between is overwritten.
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def _plain(name: str) -> str:
    return name.replace("-", " ").capitalize()
