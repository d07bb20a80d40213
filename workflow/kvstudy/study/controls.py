"""Cells that a study has next to its own, to show what its differences mean.

The *noise floor*: one store is measured twice in each repetition, under two
names. Both are the same, so what differs between them is chance or the machine's doing. The *client
ceiling*: YCSB with its BasicDB, which does nothing; no store can be faster on
this client. With ``clients: auto``, *trial cells* before all others find out how many clients each
store needs: they have 1, 2, 4, … of them. Controls take part in the random order, but not in
rankings, tables of results or figures.
"""

import re

from kvstudy.language.current import N_, _, ngettext
from kvstudy.study.combinations import shown_combination
from kvstudy.study.model import Study
from kvstudy.study.parts import AUTO, MOST_CLIENTS, StoreUse

CEILING = StoreUse(store="basic", name="client-ceiling", title=N_("YCSB without a store"))
AGAIN = "-again"
TRIAL = re.compile(r"-(\d+)-clients?$")


def controls(study: Study) -> list[StoreUse]:
    """Return the study's control stores; none for imported logs."""
    if study.imported:
        return []
    uses: list[StoreUse] = []
    for use in study.stores:
        if use.name == noise_store(study):
            title = _("{} (again)").format(use.title) if use.title else ""
            uses.append(use.model_copy(update={"name": use.name + AGAIN, "title": title}))
    if ceiling_store(study) == CEILING.name:
        uses.append(CEILING.model_copy(update={"title": _(CEILING.title)}))
    return uses


def trial_clients(study: Study) -> list[int]:
    """Return the client counts of trial cells: 1, 2, 4, … while a workload has enough threads."""
    if study.imported or study.parameters.clients != AUTO:
        return []
    threads = max(shown_combination(study, use).threads for use in study.workloads)
    return [2**power for power in range(min(threads, MOST_CLIENTS).bit_length())]


def clients_of_trial(store: str) -> int | None:
    """Return the number of clients of the trial cells of this ``store``; None for other stores."""
    trial = TRIAL.search(store)
    return int(trial[1]) if trial else None


def trials(study: Study, clients: int) -> list[StoreUse]:
    """The study's stores under the names that they have in trial cells with so many ``clients``."""
    ending = f"-{clients}-client{'' if clients == 1 else 's'}"
    return [
        use.model_copy(update={"name": use.name + ending})
        for use in study.stores
        if use.store != CEILING.store
    ]


def is_control(store: str) -> bool:
    """Return whether a cell of this store is a control cell."""
    return store == CEILING.name or store.endswith(AGAIN) or clients_of_trial(store) is not None


def is_compared(store: str) -> bool:
    """Return whether this store is compared with others, or with itself."""
    return store.endswith(AGAIN) or not is_control(store)


def noise_store(study: Study) -> str | None:
    """The store that is measured under two names, or None."""
    if study.imported:
        return None
    if study.noise_floor is True:
        return study.store_names[0]
    return study.noise_floor or None


def ceiling_store(study: Study) -> str | None:
    """The name of YCSB without a store: the study's own store of that kind, or the control."""
    if study.parameters.clients == AUTO:
        # It would be another one for each number of clients.
        return None
    control = CEILING.name if study.client_ceiling and not study.imported else None
    return next((use.name for use in study.stores if use.store == CEILING.store), control)


def measured_uses(study: Study) -> list[StoreUse]:
    """All stores that cells are measured of: the study's own and the controls."""
    of_trials = [use for clients in trial_clients(study) for use in trials(study, clients)]
    return [*study.stores, *controls(study), *of_trials]


def original(study: Study, store: str) -> str:
    """The study's own store that ``store`` is, under whatever name it was measured."""
    of = TRIAL.sub("", store).removesuffix(AGAIN)
    return of if of in study.store_names and store not in study.store_names else store


def added(store: str) -> str:
    """Return the suffix of a store's title for its control cells, which are called ``store``."""
    if clients := clients_of_trial(store):
        return ngettext("{} client", "{} clients", clients).format(clients)
    return _("again")
