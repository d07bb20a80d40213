"""The claims that keep a run going that is measured until every comparison is decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kvstudy.analyse.claims.file import Claim, load_claims
from kvstudy.analyse.claims.selection import ParameterGrid, grid_of
from kvstudy.analyse.claims.table import SHORT, UNLIKE, answer_of, deciding_rows
from kvstudy.analyse.claims.values import Values, measured_values
from kvstudy.analyse.claims.verdicts import Verdict, combined_verdict
from kvstudy.analyse.findings.files import no_analysis
from kvstudy.analyse.findings.looks import Claimed
from kvstudy.analyse.tidy.files import CELLS, MEASUREMENTS, PROBES, ROUNDS
from kvstudy.analyse.tidy.probes import Probes
from kvstudy.libraries import pd

# The tables of a run that verdicts follow from.
TRUNCATED = (CELLS, MEASUREMENTS, ROUNDS)


def claimed_after(run, repetitions: int, floors: pd.DataFrame) -> list[Claimed]:
    """The claims of a ``Run``'s study by so many ``repetitions`` alone, with these ``floors``.

    None of a trial run, which has no verdicts.
    """
    if run.claims_file is None or run.scale != 1:
        return []
    part = replace(run)
    vars(part).update(
        {
            table.name: rows[rows["repetition"].astype(int) <= repetitions]
            for table, rows in ((table, getattr(run, table.name)) for table in TRUNCATED)
        }
    )
    # The rest of the analysis, and the probes, give marks and no verdicts.
    analysis = replace(no_analysis(), floor=floors)
    vars(part).update(analysis=analysis, probes=Probes(PROBES.frame()))
    claims = load_claims(run.claims_file, run.study)
    grid = grid_of(run.study, run.scale)
    return [*claimed(claims, grid, run.study.store_names, measured_values(part))]


def claimed(
    claims: Iterable[Claim], grid: ParameterGrid, stores: list[str], measured: Values
) -> Iterator[Claimed]:
    """Return the claims that more repetitions can decide, each by the parts that decide it.

    More repetitions do not cure what was not measured, cells that are too short, and what has a
    range over the repetitions in place of an interval. A claim with such parts counts by its
    others; it is open if it is undecided and one of those is.
    """
    for claim in claims:
        kinds = [
            {"kind": each.kind, "derived": "yes" if each.derived else "no"}
            for each in claim.statements
        ]
        verdicts: Counter[Verdict] = Counter()
        workloads: set[str] = set()
        waiting = False
        for number in deciding_rows(pd.DataFrame(kinds)).index:
            statement = claim.statements[number]
            for part in statement.parts(grid, stores):
                answer = answer_of(part, measured, Values({}))
                verdicts[answer.verdict] += 1
                uncurable = {SHORT, UNLIKE}.intersection(answer.marks)
                if answer.measured and not uncurable and statement.has_interval:
                    workloads |= {operand.workload for operand in part.of}
                    waiting |= answer.verdict is Verdict.UNDECIDED
        if workloads:
            is_open = waiting and combined_verdict(verdicts) is Verdict.UNDECIDED
            yield Claimed(claim.id, frozenset(workloads), is_open)
