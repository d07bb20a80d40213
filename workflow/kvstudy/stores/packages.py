"""Servers that no distribution packages: their makers' packages, unpacked without root."""

from __future__ import annotations

import itertools
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from kvstudy.errors import EnvironmentFault
from kvstudy.stores.definition import SERVERS, Package, Store, load_store
from kvstudy.stores.native import RECORD, program_in
from kvstudy.study.load import STORES
from kvstudy.study.raw import file_digest

# Downloads, whole ones and those that go on with the next call.
DOWNLOADS = SERVERS / ".packages"
# curl: the server cannot go on where the last download ended.
NO_RANGE = 33


def packaged_stores() -> dict[str, Store]:
    """The stores with packages that are known here, by their names."""
    stores = (load_store(path.parent) for path in sorted(STORES.glob("*/store.yaml")))
    return {store.name: store for store in stores if store.native and store.native.packages}


def fitting(store: Store) -> Package | None:
    """The first of the store's packages that is made for this machine; None where none is."""
    library, version = platform.libc_ver()
    mine = (each for each in store.native.packages if each.machine == platform.machine())
    fit = (each for each in mine if _numbers(each.glibc) <= _numbers(version))
    return next(fit, None) if library == "glibc" else None


def fetch(store: Store, package: Package) -> Path:
    """Download the package, going on with a part that is there, and check it; its file.

    EnvironmentFault shows the address when it cannot be had, and where a wrong file is kept.
    """
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    path = DOWNLOADS / package.file
    if path.is_file() and file_digest(path) == package.sha256:
        return path
    part = path.with_name(f"{path.name}.part")
    command = ["curl", "--fail", "--location", "--retry", "3", "--continue-at", "-"]
    command += ["--output", str(part), package.url]
    by_hand = (
        f"fetch {package.url} on another machine and call 'kvstudy servers add {package.file}' here"
    )
    try:
        status = subprocess.run(command).returncode
        if status == NO_RANGE:
            part.unlink()
            status = subprocess.run(command).returncode
    except FileNotFoundError:
        raise EnvironmentFault(f"no program curl: install it, or {by_hand}") from None
    if status or not part.is_file():
        raise EnvironmentFault(
            f"{store.title}: {package.url} could not be had (curl: status {status}). What there "
            f"is of it is kept, and the next call goes on. Or {by_hand}. Without it, "
            f"studies go on without {store.title}"
        )
    if file_digest(part) != package.sha256:
        refused = part.replace(path.with_name(f"{path.name}.refused"))
        raise EnvironmentFault(
            f"{store.title}: what came from {package.url} is not the file that was expected "
            f"(sha256 {package.sha256}); it is kept as {refused} and not used"
        )
    return part.replace(path)


def add(path: Path, accept: Callable[[str], bool]) -> tuple[Store, str]:
    """Put the server of a package, or of the folder of a release, below servers/.

    A file whose checksum is not known is taken where ``accept`` says so to the question about it.
    Returns the store and its program. After a EnvironmentFault, what was there is there still.
    """
    if not path.exists():
        raise EnvironmentFault(f"{path}: no such file or folder")
    SERVERS.mkdir(exist_ok=True)
    if path.is_dir():
        store, root = _server_in(path, path)
        return store, _put(store, root.resolve())
    digest = file_digest(path)
    packages = (store.native.packages for store in packaged_stores().values())
    known = any(package.sha256 == digest for package in itertools.chain(*packages))
    question = f"{path.name} (sha256 {digest}) is none of the packages that are known here. Use it?"
    if not known and not accept(question):
        raise EnvironmentFault(
            f"{path}: not used, its checksum is not known (sha256 {digest}); 'kvstudy servers "
            "list' shows those that are, --accept-unknown takes it all the same"
        )
    with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=SERVERS) as work:
        tree = Path(work) / "tree"
        _unpack(path, tree)
        for package in sorted(tree.rglob("*.deb")):
            _unpack(package, tree)
        store, root = _server_in(tree, path)
        _check(store, root)
        record = {"file": path.name, "sha256": digest, "known": known}
        (root / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        return store, _put(store, root)


def _unpack(path: Path, tree: Path) -> None:
    tree.mkdir(exist_ok=True)
    command = ["tar", "--extract", "--no-same-owner", "--directory", str(tree), "--file", str(path)]
    if path.suffix == ".deb":
        command = ["dpkg-deb", "--extract", str(path), str(tree)]
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError:
        raise EnvironmentFault(f"no program {command[0]}, which unpacks {path.name}") from None
    if done.returncode:
        raise EnvironmentFault(
            f"{path}: cannot be unpacked ({done.stderr.strip()}); a package is a .deb file or a "
            ".tgz archive"
        )


def _server_in(tree: Path, of: Path) -> tuple[Store, Path]:
    """The store whose program is in the tree, and the folder that servers/<store> is to be."""
    stores = packaged_stores()
    for store in stores.values():
        native = store.native
        if native.release and program_in(tree / native.release, native.program):
            return store, tree / native.release
        programs = tree.rglob(native.program)
        for path in sorted(programs, key=lambda path: (len(path.parts), path)):
            if path.is_file():
                return store, path.parent.parent if path.parent.name == "bin" else path.parent
    programs = ", ".join(f"{store.native.program} ({store.title})" for store in stores.values())
    raise EnvironmentFault(f"{of}: has none of the programs {programs}")


def _check(store: Store, root: Path) -> None:
    """Raise EnvironmentFault if a program below ``root`` needs libraries that are missing."""
    lacking: dict[str, None] = {}
    libraries = {path.name for path in root.rglob("*.so*")}
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and os.access(path, os.X_OK):
            with path.open("rb") as file:
                if file.read(4) != b"\x7fELF":
                    continue
            output = subprocess.run(["ldd", str(path)], capture_output=True, text=True)
            text = output.stdout + output.stderr
            for name in re.findall(r"^\s*(\S+) => not found|version `(\S+)' not found", text, re.M):
                lacking |= {word: None for word in name if word and word not in libraries}
    if lacking:
        raise EnvironmentFault(
            f"{store.title}: the server does not run on this machine, which lacks "
            f"{', '.join(lacking)}: install the library, or take the package that is made for "
            "this distribution ('kvstudy servers list')"
        )


def _put(store: Store, root: Path) -> str:
    """Make ``root`` servers/<store>: a folder of somebody is linked, an unpacked one is moved."""
    target = store.installed
    if target.is_dir() and not target.is_symlink() and not (target / RECORD).is_file():
        raise EnvironmentFault(f"{target}: already exists and not of a package; move it away")
    old = target.with_name(f".old-{target.name}")
    if target.is_symlink():
        target.unlink()
    elif target.exists():
        shutil.rmtree(old, ignore_errors=True)
        target.rename(old)
    if SERVERS.resolve() in root.resolve().parents:
        root.rename(target)
    else:
        target.symlink_to(root)
    shutil.rmtree(old, ignore_errors=True)
    return str(program_in(target, store.native.program))


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]
