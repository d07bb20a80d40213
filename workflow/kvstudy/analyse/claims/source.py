"""The claims of a source asked of its own values alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from kvstudy.analyse.claims.evaluate import evaluate
from kvstudy.analyse.claims.operands import grid_of
from kvstudy.analyse.claims.table import table
from kvstudy.analyse.claims.values import Values, published_values
from kvstudy.analyse.claims.words import Names
from kvstudy.language.current import N_
from kvstudy.study.load_claims import load_claims
from kvstudy.study.model import Study

NOT_PUBLISHED = N_("not published")


def judge_source(
    path: Path,
    study: Study,
    published: pd.DataFrame,
    checks: pd.DataFrame | None,
    titles: dict[str, str],
) -> pd.DataFrame:
    """The claims in the file ``path`` as ``claims.table`` gives them; nothing is measured.

    ``published`` is as ``audit.doubts.judged_values`` gives it with ``checks``, ``titles``
    what each store is called.
    """
    grid = grid_of(study, 1.0)
    answers = evaluate(
        load_claims(path, study),
        grid,
        study.store_names,
        Values({}),
        published_values(published, grid, study.workload_names, checks),
    )
    rows = table(answers, Names.of(study, titles, grid), verdicts=False)
    return rows.assign(reason=np.where(rows["published"].notna(), "", NOT_PUBLISHED))
