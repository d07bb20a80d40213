"""Findings about memory."""

from __future__ import annotations

from kvstudy.language.current import N_
from kvstudy.language.reasons import reason
from kvstudy.measure.finding import Finding, Tree, hidden, judged
from kvstudy.measure.limits import has_groups, memory_limit

GIB = 2**30


def limit(tree: Tree) -> Finding:
    key, title = "memory_limit", N_("Memory limit")
    if not has_groups(tree):
        return hidden(key, title, N_("Whether a limit ends a server that grows is open."))
    found = memory_limit(tree)
    return judged(
        key,
        title,
        N_("none") if found is None else reason("gib", size=f"{found / GIB:.1f}"),
        N_(
            "Client, server and the files that they read share this limit: a store with more data"
            " is slowed down or ended."
        ),
        good=found is None,
    )


def swap(tree: Tree) -> Finding:
    key, title = "swap", N_("Swap")
    memory = tree.fields("proc/meminfo")
    try:
        total, free = (int(memory[name].split()[0]) for name in ("SwapTotal", "SwapFree"))
    except (KeyError, ValueError, IndexError):
        return hidden(key, title, N_("Whether the kernel moves memory to the disk is open."))
    used = total - free
    if not total:
        return judged(key, title, "none", "", good=True, number=0)
    size = f"{total / 2**20:.1f}"
    return judged(
        key,
        title,
        reason("swap-used", size=size, used=f"{used / 2**10:.0f}")
        if used
        else reason("swap-unused", size=size),
        N_(
            "The kernel has moved memory to the disk: expect single operations that take "
            "milliseconds when a part of it is needed again."
        ),
        good=not used,
        number=used,
    )


def huge_pages(tree: Tree) -> Finding:
    key, title = "huge_pages", N_("Transparent huge pages")
    text = tree.text("sys/kernel/mm/transparent_hugepage/enabled")
    chosen = [word.strip("[]") for word in (text or "").split() if word.startswith("[")]
    if not chosen:
        return hidden(
            key,
            title,
            N_("Whether the kernel puts small pages of memory together to large is open."),
        )
    return judged(
        key,
        title,
        chosen[0],
        N_(
            "The kernel puts small pages of memory together to large ones while a server runs: "
            "expect peaks in its highest latencies and more memory in use."
        ),
        good=chosen[0] != "always",
    )


def pressure(tree: Tree) -> Finding:
    key, title = "pressure", N_("Pressure information")
    found = [name for name in ("cpu", "memory", "io") if tree.text(f"proc/pressure/{name}")]
    if not found:
        return hidden(
            key,
            title,
            N_(
                "The kernel does not count how long programs wait for CPU, memory and disk: the "
                "report cannot tell it either."
            ),
        )
    return judged(key, title, ", ".join(found), "", good=True)
