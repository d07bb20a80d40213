"""The study.yaml of imported logs: written once, then the user's."""

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.libraries import jinja2
from kvstudy.logs.imports.guess import Guess
from kvstudy.logs.imports.mapping import NAME, Row, base_of, measures_its_load
from kvstudy.logs.imports.workloads import differences
from kvstudy.stores.definition import StoreFile
from kvstudy.study.load import STORES, STUDIES, load_study, project_stores
from kvstudy.study.parts import Imported, WorkloadUse
from kvstudy.study.reading import read_yaml
from kvstudy.study.workload import WORKLOADS, load_workload, project_workloads

# Groups of bars that fit on an axis.
MOST_GROUPS = 6
CHOICE_OF_FILES = (
    "The workloads are taken to be YCSB's own files of these names, where the logs came without "
    "theirs; no log says what was in its file."
)


def check_study(name: str, machine: str, measured_by: str) -> None:
    """KvstudyError when the study cannot take imported logs, or says something else of them."""
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise KvstudyError(
            f"--study: '{name}' is no name of a study; use small letters, digits and hyphens"
        )
    path = STUDIES / name / "study.yaml"
    if not path.is_file():
        return
    imported = load_study(path).imported
    if imported is None:
        raise KvstudyError(
            f"{path}: is a study that is measured; give another --study, or add imported: true"
        )
    for key, value in (("machine", machine), ("measured_by", measured_by)):
        if value and value != getattr(imported, key):
            raise KvstudyError(
                f"{path}: imported.{key}: is '{getattr(imported, key)}', but the command says "
                f"'{value}'; the file is yours now: change it there"
            )


def check_alike(rows: list[Row], guesses: dict[str, Guess]) -> None:
    """KvstudyError when logs of one store or workload were made with different properties.

    The load of a run may have been; what it loaded is what counts.
    """
    files = project_workloads()
    seen: dict[tuple[str, str], tuple[str, dict[str, str]]] = {}
    for row in rows:
        guess = guesses[row.file]
        if guess.source.given is None or not (row.phase == "run" or measures_its_load(row)):
            continue
        shipped = load_workload(WORKLOADS / base_of(row.workload, files))
        of_workload = differences(guess.source.given, shipped, row.phase)
        for what, name, properties in (
            ("workload", row.workload, of_workload),
            ("store", row.store, guess.variant),
        ):
            first, others = seen.setdefault((what, name), (row.file, properties))
            if differing := sorted({key for key, _ in others.items() ^ properties.items()}):
                raise KvstudyError(
                    f"{NAME}: {first} and {row.file} are both {what} '{name}', but were made with "
                    f"other values of {', '.join(differing)}; give one of them another {what} "
                    f"name, for example {name}-2"
                )


def write_study(
    path: Path, name: str, rows: list[Row], guesses: dict[str, Guess], imported: Imported
) -> None:
    """Write the study file; nothing is left of one that is not valid."""
    path.write_text(study_text(name, rows, guesses, imported), encoding="utf-8")
    try:
        load_study(path)
    except KvstudyError:
        path.unlink()
        raise


def study_text(name: str, rows: list[Row], guesses: dict[str, Guess], imported: Imported) -> str:
    """The study file of ``rows``, which ``check_alike`` has passed; ``guesses`` by file."""
    uses = _workloads(rows, guesses)
    names = ("records", "operations", "threads")
    common = Counter(tuple(use.get(name, 0) for name in names) for use in uses)
    sizes = dict(zip(names, common.most_common(1)[0][0], strict=True))
    stores = Counter(workload for workload, _ in {(row.workload, row.store) for row in rows})
    workloads = [use["name"] for use in uses]
    # Those that two stores have; all of them where no two stores have any.
    compared = [name for name in workloads if stores[name] > 1] or workloads
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"quoted": _text, "flow": _flow}
    return environment.get_template("study.yaml.j2").render(
        name=name,
        imported=imported.model_dump(),
        stores=_stores(rows, guesses),
        uses=uses,
        # Without the sizes that the study's parameters give.
        short_uses=[
            {key: value for key, value in use.items() if sizes.get(key) != value} for use in uses
        ],
        records=sizes["records"],
        # A study needs a number of operations also when it only loads.
        operations=sizes["operations"] or max(1, *(use.get("operations", 0) for use in uses)),
        threads=sizes["threads"],
        repetitions=max(row.repetition for row in rows),
        groups=[
            compared[start : start + MOST_GROUPS] for start in range(0, len(compared), MOST_GROUPS)
        ],
        choices=_choices(rows, guesses),
    )


def _text(value: str) -> str:
    """A YAML text; JSON's quotes are YAML's too."""
    return json.dumps(value, ensure_ascii=False)


def _flow(values: dict[str, object]) -> str:
    """``{name: a, title: "Workload A"}``"""
    parts = []
    for key, value in values.items():
        if isinstance(value, dict):
            text = _flow(value)
        elif isinstance(value, str) and key not in ("name", "kind", "file", "workload", "store"):
            text = _text(value)
        else:
            text = str(value)
        parts.append(f"{key}: {text}")
    return "{" + ", ".join(parts) + "}"


def _stores(rows: list[Row], guesses: dict[str, Guess]) -> list[str]:
    folders = project_stores()
    lines = []
    for name in dict.fromkeys(row.store for row in rows):
        folder = base_of(name, folders)
        if name == folder:
            lines.append(f"  - {name}")
            continue
        title = read_yaml(STORES / folder / "store.yaml", StoreFile).title
        rest = name.removeprefix(f"{folder}-").replace("-", " ")
        values = {"store": folder, "name": name, "title": f"{title} ({rest})"}
        variant = _variant(rows, guesses, name)
        lines.append(f"  - {_flow(values)}" + (f"  # {variant}" if variant else ""))
    return lines


def _variant(rows: list[Row], guesses: dict[str, Guess], store: str) -> str:
    """The properties of the binding that the store's logs were made with."""
    mine = [guesses[row.file] for row in rows if row.store == store]
    found = [guess.variant for guess in mine if guess.source.command]
    if not found or any(other != found[0] for other in found):
        return ""
    return ", ".join(f"{name}={value}" for name, value in found[0].items())


def _workloads(rows: list[Row], guesses: dict[str, Guess]) -> list[dict[str, object]]:
    """The workloads as the study file has them, with all sizes; insert-only comes last."""
    files = project_workloads()
    members: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.phase == "run" or measures_its_load(row):
            members[row.workload].append(row)
    uses = []
    for name, of in members.items():
        file = base_of(name, files)
        plain = WorkloadUse(name=file)
        rest, first = name.removeprefix(file).strip("-"), of[0]
        use = {
            "name": name,
            "file": file if name != file else None,
            "title": f"{plain.title}, {_words(rest)}" if rest else plain.title,
            "short": f"{plain.short} {rest.replace('-', ' ')}" if rest else None,
            "records": first.records,
            "threads": first.threads,
            "operations": first.operations,
            "seconds": first.seconds,
            "properties": _properties(file, of, guesses),
        }
        uses.append({key: value for key, value in use.items() if value})
    return sorted(uses, key=lambda use: ("operations" not in use, use["name"]))


def _words(rest: str) -> str:
    """``t8`` in a name is ``8 threads`` in a title."""
    sizes = {"r": "record", "o": "operation", "t": "thread", "s": "second"}

    def words(size: re.Match) -> str:
        return f"{size[2]} {sizes[size[1]]}{'' if size[2] == '1' else 's'},"

    return re.sub(r"\b([rots])(\d+)(?=-|$)", words, rest).replace("-", " ").strip(", ")


def _properties(file: str, rows: list[Row], guesses: dict[str, Guess]) -> dict[str, str]:
    """What the workload's logs were made with in place of what the file says."""
    given = ((guesses[row.file].source.given, row.phase) for row in rows)
    properties, phase = next((each for each in given if each[0] is not None), ({}, "run"))
    return differences(properties, load_workload(WORKLOADS / file), phase)


def _choices(rows: list[Row], guesses: dict[str, Guess]) -> list[str]:
    choices = [CHOICE_OF_FILES]
    for store in dict.fromkeys(row.store for row in rows):
        if variant := _variant(rows, guesses, store):
            choices.append(f"The store {store} was measured with {variant}.")
    if any(guesses[row.file].named for row in rows):
        choices.append(
            "Some logs do not say how YCSB was called. Their store and workload were given by hand."
        )
    return choices
