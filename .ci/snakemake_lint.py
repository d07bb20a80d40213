"""Run `snakemake --lint` and fail on every finding but the documented one.

The documented one: rules name no conda environment or container. All of them run in the one
locked environment that envs/setup makes, and a server's own image is the store's matter.
"""

import re
import subprocess
import sys

DOCUMENTED = "Specify a conda environment or container for each rule."


def findings(text: str) -> list[str]:
    """The findings in the linter's text, as "place: finding", without the documented one."""
    found = []
    place = ""
    for line in text.splitlines():
        if heading := re.match(r"Lints for (?:rule \S+ \((.+)\)|(.+)):$", line):
            # The place only: generated rules have many names for the same lines.
            place = heading[1] or heading[2]
        elif (finding := re.match(r"    \* (.+?):?$", line)) and finding[1] != DOCUMENTED:
            found.append(f"{place}: {finding[1]}")
    return list(dict.fromkeys(found))


def main() -> int:
    """Exit code 0 without findings, else 1."""
    # The provider is fixed so that the result does not depend on a Docker daemon.
    command = ["snakemake", "--lint", "--config", "provider=native"]
    lint = subprocess.run(command, capture_output=True, text=True)
    text = lint.stdout + lint.stderr
    found = findings(text)
    for line in found:
        print(line)
    if lint.returncode and "Lints for " not in text:
        print(text)
        return 1
    if found:
        print(f"{len(found)} findings of snakemake --lint; `snakemake --lint` explains them.")
        return 1
    print("snakemake --lint: nothing but the documented finding.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
