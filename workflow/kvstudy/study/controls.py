"""Cells that a study has beside its own, to show what its differences mean.

The *noise floor*: one store is measured twice in each repetition, under two
names. Both are the same, so what differs between them is chance. The *client
ceiling*: YCSB with its BasicDB, which does nothing; no store can be faster on
this client. A study can ask for a *second client*: each store once more, with two
clients at a time that have half of the threads each; if their total is higher, one
client is the limit. All take part in the random order, but not in rankings, tables of
results or figures.
"""

from kvstudy.language.current import N_, _
from kvstudy.study.model import Study
from kvstudy.study.parts import StoreUse

CEILING = StoreUse(store="basic", name="client-ceiling", title=N_("YCSB without a store"))
AGAIN = "-again"
TWO_CLIENTS = "-two-clients"
# What stands behind the title of such a store.
WORDS = [N_("again"), N_("two clients")]


def controls(study: Study) -> list[StoreUse]:
    """What the study measures beside its own stores; nothing for imported logs."""
    if study.imported:
        return []
    uses: list[StoreUse] = []
    if of := noise_store(study):
        use = next(use for use in study.stores if use.name == of)
        title = _("{} (again)").format(use.title) if use.title else ""
        uses.append(use.model_copy(update={"name": of + AGAIN, "title": title}))
    if ceiling_store(study) == CEILING.name:
        uses.append(CEILING.model_copy(update={"title": _(CEILING.title)}))
    if study.second_client:
        uses += [
            use.model_copy(update={"name": use.name + TWO_CLIENTS})
            for use in study.stores
            if use.store != CEILING.store
        ]
    return uses


def is_control(store: str) -> bool:
    """Whether a cell of the store called so is a control cell."""
    return store == CEILING.name or store.endswith((AGAIN, TWO_CLIENTS))


def noise_store(study: Study) -> str | None:
    """The store that is measured under two names, or None."""
    if study.imported:
        return None
    if study.noise_floor is True:
        return study.store_names[0]
    return study.noise_floor or None


def ceiling_store(study: Study) -> str | None:
    """The name of YCSB without a store: the study's own store of that kind, or the control."""
    control = CEILING.name if study.client_ceiling and not study.imported else None
    return next((use.name for use in study.stores if use.store == CEILING.store), control)


def measured_uses(study: Study) -> list[StoreUse]:
    """All stores that cells are measured of: the study's own and the controls."""
    return [*study.stores, *controls(study)]


def original(study: Study, store: str) -> str:
    """The study's own store that ``store`` is, under whatever name it was measured."""
    for use in study.stores:
        if store in (use.name + AGAIN, use.name + TWO_CLIENTS) and store not in study.store_names:
            return use.name
    return store
