"""The study.yaml of imported logs: written once, then the user's."""

import json
import math
import re
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

import yaml

from kvstudy.errors import InputError, KvstudyError
from kvstudy.libraries import jinja2
from kvstudy.logs.imports.mapping import NAME, Row, base_of, is_measured
from kvstudy.logs.imports.sources import LogBundle
from kvstudy.logs.imports.workloads import differences
from kvstudy.stores.definition import StoreFile
from kvstudy.study.base import SIZE_TITLES, SIZES
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
CHOICE_BY_HAND = (
    "Some logs do not say how YCSB was called. Their store and workload were given by hand."
)


def check_study(name: str, machine: str, measured_by: str) -> None:
    """Raise InputError when the study cannot take imported logs, or says something else of them."""
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise InputError(
            f"--study: '{name}' is no name of a study; use small letters, digits and hyphens"
        )
    path = STUDIES / name / "study.yaml"
    if not path.is_file():
        return
    imported = load_study(path).imported
    if imported is None:
        raise InputError(
            f"{path}: is a study that is measured; give another --study, or add imported: true"
        )
    for key, value in (("machine", machine), ("measured_by", measured_by)):
        if value and value != getattr(imported, key):
            raise InputError(
                f"{path}: imported.{key}: is '{getattr(imported, key)}', but the command says "
                f"'{value}'; the file is yours now: change it there"
            )


def check_alike(sources: list[LogBundle]) -> None:
    """Raise InputError when logs of one store or workload were made with different properties.

    The load of a run may have been; what it loaded is what counts.
    """
    firsts: dict[tuple[str, str], tuple[str, dict[str, str]]] = {}
    for source in sources:
        row = source.row
        if source.given is None or not is_measured(row):
            continue
        for what, name, properties in (
            ("workload", row.workload, _properties(source)),
            ("store", row.store, source.variant),
        ):
            first, others = firsts.setdefault((what, name), (row.file, properties))
            if differing := sorted({key for key, _ in others.items() ^ properties.items()}):
                raise InputError(
                    f"{NAME}: {first} and {row.file} are both {what} '{name}', but were made with "
                    f"other values of {', '.join(differing)}; give one of them another {what} "
                    f"name, for example {name}-2"
                )


def _properties(source: LogBundle) -> dict[str, str]:
    """Return the properties that differ from the workload's file."""
    file = base_of(source.row.workload, project_workloads())
    return differences(source.given or {}, load_workload(WORKLOADS / file), source.row.phase)


def write_study(path: Path, name: str, sources: list[LogBundle], imported: Imported) -> None:
    """Write the study file; nothing is left of one that is not valid."""
    path.write_text(study_text(name, sources, imported), encoding="utf-8")
    try:
        load_study(path)
    except KvstudyError:
        path.unlink()
        raise


def study_text(name: str, sources: list[LogBundle], imported: Imported) -> str:
    """The study file of ``sources``, which ``check_alike`` has passed."""
    by_store: dict[str, list[LogBundle]] = defaultdict(list)
    stores_of: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        by_store[source.row.store].append(source)
        stores_of[source.row.workload].add(source.row.store)
    variants = {}
    for store, of in by_store.items():
        # The same in all of them that show it (``check_alike``).
        variants_of_runs = (
            source.variant for source in of if source.command and is_measured(source.row)
        )
        variants[store] = ", ".join(
            f"{name}={value}" for name, value in next(variants_of_runs, {}).items()
        )
    uses = _workloads(sources)
    sizes = {}
    for size in SIZES:
        # YAML's lists are no keys.
        common = Counter(json.dumps(use[size]) for use in uses if size in use).most_common(1)
        sizes[size] = json.loads(common[0][0]) if common else 1
    workloads = [use["name"] for use in uses]
    # Those that two stores have; all of them where no two stores have any.
    compared = [workload for workload in workloads if len(stores_of[workload]) > 1] or workloads
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    # JSON's quotes are YAML's too.
    environment.filters |= {"quoted": partial(json.dumps, ensure_ascii=False), "flow": _flow}
    return environment.get_template("study.yaml.j2").render(
        name=name,
        imported=imported.model_dump(),
        stores=[_store(store, variant) for store, variant in variants.items()],
        uses=uses,
        # Without the sizes that the study's parameters give.
        short_uses=[
            {key: value for key, value in use.items() if sizes.get(key) != value} for use in uses
        ],
        # A study needs a number of operations also when it only loads.
        sizes=sizes,
        sweeps=[
            {"use": use, "over": size, "over_title": SIZE_TITLES[size].lower()}
            for use in uses
            for size in SIZES
            if isinstance(use.get(size), list)
        ],
        repetitions=max(source.row.repetition for source in sources),
        compared=compared,
        most_groups=MOST_GROUPS,
        choices=[
            CHOICE_OF_FILES,
            *(
                f"The store {store} was measured with {variant}."
                for store, variant in variants.items()
                if variant
            ),
            *([CHOICE_BY_HAND] if any(source.command is None for source in sources) else []),
        ],
    )


def _flow(values: dict[str, object]) -> str:
    """``{name: a, title: 'Workload A, 8 threads'}``"""
    style = {"default_flow_style": True, "sort_keys": False, "allow_unicode": True}
    return yaml.safe_dump(values, width=math.inf, **style).strip()


def _store(name: str, variant: str) -> str:
    """The store's line."""
    folder = base_of(name, project_stores())
    if name == folder:
        return f"  - {name}"
    title = read_yaml(STORES / folder / "store.yaml", StoreFile).title
    rest = name.removeprefix(f"{folder}-").replace("-", " ")
    line = f"  - {_flow({'store': folder, 'name': name, 'title': f'{title} ({rest})'})}"
    return f"{line}  # {variant}" if variant else line


def _workloads(sources: list[LogBundle]) -> list[dict[str, object]]:
    """The workloads as the study file has them, with all sizes; insert-only comes last."""
    files = project_workloads()
    members: dict[str, list[LogBundle]] = defaultdict(list)
    for source in sources:
        if is_measured(source.row):
            members[source.row.workload].append(source)
    uses = []
    for name, of in members.items():
        file, row = base_of(name, files), of[0].row
        plain = WorkloadUse(name=file)
        rest = name.removeprefix(file).strip("-")
        with_command = [source for source in of if source.given is not None]
        use = {
            "name": name,
            "file": file if name != file else None,
            "title": f"{plain.title}, {_words(rest)}" if rest else plain.title,
            "short": f"{plain.short} {rest.replace('-', ' ')}" if rest else None,
            **_sizes([source.row for source in of]),
            "seconds": row.seconds,
            "properties": _properties(with_command[0]) if with_command else None,
        }
        uses.append({key: value for key, value in use.items() if value})
    return sorted(uses, key=lambda use: ("operations" not in use, _by_number(use["name"])))


def _by_number(name: str) -> list[tuple[bool, int, str]]:
    """``a-target-200`` before ``a-target-1000``."""
    parts = re.split(r"(\d+)", name)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def _sizes(rows: list[Row]) -> dict[str, object]:
    """The sizes of a workload, lists of a sweep, and of these those that most stores have."""
    columns = {size: sorted({getattr(row, size) or 0 for row in rows}) for size in SIZES}
    sizes = {size: of[0] if len(of) == 1 else of for size, of in columns.items()}

    def spread(row: Row) -> tuple:
        same = [other for other in rows if other.sizes == row.sizes]
        # Of equal ones the largest, as the study's default is.
        return len({other.store for other in same}), len(same), [size or 0 for size in row.sizes]

    most = max(rows, key=spread)
    shown = {
        size: getattr(most, size)
        for size, of in columns.items()
        if len(of) > 1 and getattr(most, size) != of[-1]
    }
    return sizes | {"shown": shown}


def _words(rest: str) -> str:
    """``t8`` in a name is ``8 threads`` in a title."""
    sizes = {"r": "record", "o": "operation", "t": "thread", "s": "second"}

    def words(size: re.Match) -> str:
        return f"{size[2]} {sizes[size[1]]}{'' if size[2] == '1' else 's'},"

    return re.sub(r"\b([rots])(\d+)(?=-|$)", words, rest).replace("-", " ").strip(", ")
