"""The offline plan: a snapshot brought to rest from nothing, then second steps from there.

Where a snapshot comes from, and how a plan is shown, is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.chain.chain import DEFAULT_NAMESPACES, Chain
from engine.chain.changes import Change
from engine.chain.node import NodeProgram
from engine.chain.settings import Settings


def plan(
    snapshot: Iterable[Change],
    program: NodeProgram,
    settings: Settings | Mapping[str, object] | None = None,
    *,
    namespaces: Iterable[str] = DEFAULT_NAMESPACES,
    active_checks: tuple[str, ...] | None = None,
    second_steps: Iterable[Iterable[Change]] = (),
) -> Chain:
    """The chain of a snapshot: the fold of its changes from empty, each second step applied after the last came to rest.

    Raises: UsageError, InputError: a setting or a type that cannot be taken.
    """
    chain = Chain(program, settings, namespaces=namespaces, active_checks=active_checks)
    chain.apply(snapshot)
    for step in second_steps:
        chain.apply(step)
    return chain
