import subprocess
import sys
from pathlib import Path

import click

from kvstudy.errors import KvstudyError


@click.group("servers")
def command() -> None:
    """Install servers that no distribution packages, without root, below servers/.

    \b
    Examples:
      kvstudy servers list
      kvstudy servers get aerospike riak
      kvstudy servers add ~/Downloads/riak_3.4.0-OTP26_amd64.deb
    """


@command.command("list")
def list_() -> None:
    """Show the servers that are here, and the packages that are known."""
    from kvstudy.stores import native
    from kvstudy.stores.packages import fitting, packaged_stores

    for name, store in packaged_stores().items():
        print(f"{name}: {native.find_program(store) or 'not here'}")
        for package in store.native.packages:
            here = ", for this machine" if package is fitting(store) else ""
            print(
                f"  {package.version} ({package.machine}, glibc {package.glibc} or later, "
                f"{package.license}{here})\n    {package.url}\n    sha256 {package.sha256}"
            )


@command.command("add")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--accept-unknown", is_flag=True, help="Take a file whose checksum is not known.")
def add_(path: Path, accept_unknown: bool) -> None:
    """Take the server of PATH: a package (.deb, .tgz) that you have, or the folder of a release.

    The checksum of a package is compared with those of 'kvstudy servers list'. A package is
    unpacked to servers/<store>, a folder is linked there. Reports name the package, and say so
    if its checksum is not known.
    """
    from kvstudy.stores.packages import add

    def accept(question: str) -> bool:
        return accept_unknown or (sys.stdin.isatty() and click.confirm(question))

    store, program = add(path, accept)
    print(f"{store.title} is ready: {program}")


@command.command("get")
@click.argument("stores", nargs=-1, metavar="STORE...")
def get(stores: tuple[str, ...]) -> None:
    """Install the servers of the STOREs [default: all that have an install script].

    A store has an install script, or packages of its makers, which are downloaded and checked.
    An interrupted download goes on with the next call.
    """
    from kvstudy.stores.packages import add, fetch, fitting, packaged_stores
    from kvstudy.study.load import STORES
    from kvstudy.study.naming import did_you_mean

    scripts = {path.parent.name: path for path in sorted(STORES.glob("*/install"))}
    packaged = packaged_stores()
    problems = []
    for name in stores or scripts:
        if name in scripts:
            if subprocess.run([scripts[name].absolute()]).returncode:
                problems.append(f"{name}: not installed, the lines above say why")
            continue
        try:
            if name not in packaged:
                known = [*scripts, *packaged]
                raise KvstudyError(f"{name}: nothing to install{did_you_mean(name, known)}")
            store = packaged[name]
            package = fitting(store)
            if package is None:
                raise KvstudyError(
                    f"{store.title}: no known package is made for this machine; "
                    f"{store.native.remedy}"
                )
            print(f"{store.title} {package.version} ({package.license}) from {package.url}")
            _, program = add(fetch(store, package), lambda _question: False)
            print(f"{store.title} is ready: {program}")
        except KvstudyError as error:
            problems.append(str(error))
    if problems:
        raise KvstudyError("\n".join(problems))
