"""The studies of a shop, ascani2023 and its shorter one, as tiny as they get."""

from __future__ import annotations


def shrink(study: dict) -> None:
    """Two stores, one number of operations, and several threads in the first workload only."""
    study.update(stores=["redis", "mongodb"])
    study["parameters"].update(threads=[1, 6])
    first, *others = study["workloads"]
    for use in study["workloads"]:
        use.update(operations=2000)
        use.pop("also", None)
    # The first one shows what more threads do.
    for use in others:
        use.update(threads=6)
    study["figures"] = [
        figure
        for figure in study["figures"]
        if figure["kind"] != "curves" or figure["workloads"] == [first["name"]]
    ]
    for figure in study["figures"]:
        figure.pop("where", None)
