"""What `plan`, `explain` and `demo` have in common: options, a plan from files, and what is printed beside it.

The plan itself is the chain's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import click

from engine.chain.chain import DEFAULT_NAMESPACES, Chain
from engine.chain.changes import Condition
from engine.chain.node import NodeProgram
from engine.chain.plan import plan
from engine.cli.snapshot import Snapshot, second_steps, settings_of

ASSUMPTIONS: Final = (
    "Kueue observes every object, and queues are Active unless stopped",
    "the admission check gpustack-node-devices is Active",
    "every device plugin is registered",
    "there are no Workloads and nothing is allocated",
)
_REMEDIES: Final = {
    "CardDropped": "record the machine again with the driver loaded",
    "CardExcluded": "a rule says so: an Overlay can say otherwise",
    "CardsDiffer": "make section model give unlike cards products of their own, or live with it",
    "CouldNotTell": "engine explain names the rule; mend the rule or the fact it lacks",
    "CpuUnidentified": "give the machine's cpu vendorId, family, id or name",
    "Disagreement": "make the cards or the packs agree, or live with it",
    "FlavorsNearLimit": "make nodes of the pool more alike: fewer counts, fewer profiles",
    "LevelsDiffer": "give the nodes of one topology the same level labels",
    "NameClash": "make the names differ in the rules of section flavor",
    "NoPack": "add a pack under rules/manufacturers, or remove the library from the machine",
    "NotAQuantity": "write the amount as Kubernetes does: 16, 16Gi, 500m",
    "PoolsDiffer": "make section pool give one answer for these flavors",
    "ProfileNotOffered": "a rule says so: an Overlay can say otherwise",
    "RowsDiffer": "make section catalogue give one answer for these flavors",
    "TooManyFlavors": "make nodes of the pool more alike: fewer counts, fewer profiles",
}
_ANY_REMEDY: Final = "engine plan --show nodes,flavors -o wide shows what it is about"
_QUIET: Final = frozenset(("Ready",))

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Options:
    """The options that say what is planned, beside the files."""

    settings: Sequence[str] = ()
    unmanaged: Sequence[str] = ()
    namespaces: Sequence[str] = ()
    from_empty: bool = False


def planning_options(function: _Decorated) -> _Decorated:
    """The options of `Options`, for a click command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


_OPTIONS: Final = (
    click.option(
        "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting, turned once the plan is at rest."
    ),
    click.option("--unmanaged", multiple=True, metavar="NODE", help="A node, taken out of management once at rest."),
    click.option("--namespace", "-n", "namespaces", multiple=True, metavar="NS", help="A namespace beside default."),
    click.option(
        "--from-empty", is_flag=True, help="Apply --set and --unmanaged from the start, not as a second step."
    ),
)


def planned(snapshot: Snapshot, program: NodeProgram, options: Options) -> Chain:
    """The chain of a snapshot: at rest, then again after the second steps.

    Raises: UsageError, InputError: a setting, node or type that cannot be taken.
    """
    settings = settings_of(options.settings)
    first = snapshot.changes(program)
    second = second_steps(snapshot, first, settings, options.unmanaged)
    steps = [[*second[: bool(settings)], *first, *second[bool(settings) :]]] if options.from_empty else [first, second]
    return plan(
        steps[0],
        program,
        namespaces=(*snapshot.namespaces(), *options.namespaces),
        active_checks=snapshot.active_checks(),
        second_steps=[each for each in steps[1:] if each],
    )


def print_notes(snapshot: Snapshot, conditions: Iterable[Condition], options: Options, *, verbose: bool) -> None:
    """Print to standard error what was skipped, what could not be told and, when asked, what was assumed."""
    for note in snapshot.notes:
        click.echo(f"note: {note}", err=True)
    if verbose:
        spaces = ", ".join(dict.fromkeys((*DEFAULT_NAMESPACES, *options.namespaces)))
        # A recording states what is otherwise assumed, but for what Kueue does next.
        assumed = (*ASSUMPTIONS, f"the namespaces are {spaces}") if snapshot.recording is None else ASSUMPTIONS[:1]
        for line in assumed:
            click.echo(f"assumed: {line}", err=True)
        if (options.settings or options.unmanaged) and not options.from_empty:
            click.echo("assumed: --set and --unmanaged come after the plan was at rest once", err=True)
    for each in conditions:
        if each.reason not in _QUIET:
            remedy = _REMEDIES.get(each.reason, _ANY_REMEDY)
            click.echo(f"warning: {each.kind} {each.name}: {each.reason}: {each.message}; {remedy}", err=True)
