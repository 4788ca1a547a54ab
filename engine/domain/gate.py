"""The verdict on a Workload that holds quota: is there a card for each of its Pods, and what is said about it.

Never "rejected": what does not fit now may fit later. Where cards, promises and placements are known from is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from engine.domain.demand import Demand, Family
from engine.domain.holdings import Stock
from engine.domain.room import Load, Room, Scope, has_profile


@dataclass(frozen=True, slots=True)
class Question:
    """What a verdict is about.

    Shape: `reach` are the names of the nodes of each flavor that a demand names, in order; `stocks` gives a
    node's cards; `promised` is what others were
    promised and do not hold yet; `is_single` leaves roles out of the message.
    """

    demands: tuple[Demand, ...]
    scopes: Mapping[str, Scope]
    reach: Mapping[str, Collection[str]]
    stocks: Callable[[str], Stock | None]
    promised: Sequence[Load] = ()
    is_single: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """Shape: `nodes` are those on which Pods were placed, sorted."""

    is_ready: bool
    message: str
    nodes: tuple[str, ...] = ()


def judge(question: Question) -> Verdict:
    """The verdict. The first demand that does not fit is told of.

    Source: specification 10 §4.5, §4.6.
    """
    demands = question.demands
    unassigned = [each for each in demands if not each.flavor]
    if unassigned:
        roles = _roles(question, unassigned)
        return _retry(
            f"the Workload's admission does not resolve to a single accelerator flavor{roles}, so no card population can be "
            "resolved; will retry once it does"
        )
    unresolved = [each for each in demands if question.reach.get(each.flavor) and not question.scopes[each.flavor].key]
    if unresolved:
        roles = _roles(question, unresolved)
        return _retry(
            f"the ResourceFlavor assigned{roles} pins no single accelerator key, so which cards of its nodes are its own "
            "cannot be resolved; correct the flavor's node labels (will retry)"
        )
    room = Room(question.stocks, question.reach, question.scopes)
    for load in question.promised:
        room.take(load)
    chosen: set[str] = set()
    for demand in demands:
        fits, nodes = room.place(demand, is_last=demand is demands[-1])
        if not fits:
            return _retry(_why_not(question, room, demand))
        chosen |= nodes
    return Verdict(is_ready=True, message=_why(question), nodes=tuple(sorted(chosen)))


def _why(question: Question) -> str:
    if not question.demands:
        return "the assigned flavor pool has enough free cards to place the request"
    first = question.demands[0]
    roles = _roles(question, [each for each in question.demands if each.profile == first.profile])
    if first.family is Family.PARTITIONED:
        return f'the assigned flavor pool has enough partitioned cards with a free "{first.profile}" placement{roles}'
    return f"the assigned flavor pool has enough free cards to place the request{roles}"


def _why_not(question: Question, room: Room, demand: Demand) -> str:
    roles = _roles(question, [demand])
    if demand.family is not Family.PARTITIONED:
        return (
            f"no node in the assigned flavor pool currently has enough free cards{roles}; will retry as capacity frees"
        )
    offering = [spot for spot in room.spots(demand) if has_profile(spot, demand.profile)]
    if not offering:
        return (
            f'the assigned flavor pool has no partitioned card for profile "{demand.profile}"{roles}; partition a card in '
            "this pool (will retry)"
        )
    if not any(spot.state is not None and spot.state.has_profile_rows for spot in offering):
        return (
            f"the partition placement ledger is not ready on the assigned flavor pool{roles} (device manager rolling out); "
            "will retry"
        )
    return (
        f'no partitioned card in the assigned flavor pool currently has a free "{demand.profile}" placement{roles}; will '
        "retry as capacity frees"
    )


def _roles(question: Question, demands: Sequence[Demand]) -> str:
    names = sorted({role for each in demands for role in each.roles})
    if question.is_single or not names:
        return ""
    quoted = ", ".join(f'"{name}"' for name in names)
    return f" for role {quoted}" if len(names) == 1 else f" for roles {quoted}"


def _retry(message: str) -> Verdict:
    return Verdict(is_ready=False, message=message)
