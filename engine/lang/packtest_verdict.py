"""Judging one case of a pack test: what came out against what the test states.

Says why a case failed, or nothing. Evaluates no section and spreads no case out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from engine.lang.outcome import Outcome, OutcomeKind
from engine.lang.packtest_cases import Case
from engine.lang.packtest_compare import Difference, differences, has_path, projected, shown, with_defaults
from engine.lang.section import Combine, Section
from engine.lang.types import MISSING, Type

_MOST_SHOWN: Final = 5
"""Differences a failure's message names; the rest are counted (they are all in `differences`)."""


class Ran(Struct, frozen=True):
    """What one case came to. `refused` is the refusal's text, `unknown` why it could not tell; both None otherwise."""

    value: Any
    fired: tuple[str, ...]
    refused: str | None = None
    unknown: str | None = None


def ran_as(outcome: Outcome, section: Section) -> Ran:
    """A section's outcome as a test sees it: nothing is an empty object (or list), a guard's text is a refusal."""
    if outcome.kind is OutcomeKind.UNKNOWN:
        return Ran(None, outcome.fired, unknown=outcome.reason)
    if outcome.kind is OutcomeKind.NOTHING:
        return Ran([] if section.combine is Combine.LIST else {}, outcome.fired)
    if section.message == "" and isinstance(outcome.value, Mapping):
        value = {key: item for key, item in outcome.value.items() if key != "message"}
        return Ran(value, outcome.fired, refused=outcome.value.get("message"))
    return Ran(outcome.value, outcome.fired)


def verdict(case: Case, ran: Ran, shapes: Sequence[Type]) -> tuple[str, tuple[Difference, ...]] | None:
    """Why a case failed, or None when it passed."""
    if case.unknown is not None or ran.unknown is not None:
        return _judge_unknown(case, ran)
    if case.refuses is not None and ran.refused != case.refuses:
        return _judge_refusal(case, ran)
    if ran.refused is not None and case.refuses is None and case.expect is MISSING and not (case.fires or case.silent):
        return f"it was refused: {ran.refused}", ()
    found = tuple(_differences(case, ran, shapes))
    if found:
        refused = f" (refused: {ran.refused})" if ran.refused is not None and case.refuses is None else ""
        more = f"; and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        return "; ".join(str(one) for one in found[:_MOST_SHOWN]) + more + refused, found
    return _judge_rules(case, ran)


def _judge_unknown(case: Case, ran: Ran) -> tuple[str, tuple[Difference, ...]] | None:
    if case.unknown is None:
        return f"it could not tell: {ran.unknown}", ()
    if ran.unknown is None:
        return f"expected that it could not tell, got {shown(ran.value)}", ()
    if not _is_reason(case, ran.unknown):
        return f"it could not tell, but not because of {shown(case.unknown)}: {ran.unknown}", ()
    return _judge_rules(case, ran)


def _is_reason(case: Case, reason: str) -> bool:
    """Whether a reason is the one stated: all of it, or all but the place in front (`inject/a-rule env.X: `)."""
    stated = case.unknown or ""
    if case.is_partial or not stated:
        return stated in reason
    return reason == stated or reason.endswith(f": {stated}")


def _judge_refusal(case: Case, ran: Ran) -> tuple[str, tuple[Difference, ...]]:
    if ran.refused is None:
        return f"expected a refusal, {shown(case.refuses)}; got {shown(ran.value)}", ()
    found = Difference("refuses", case.refuses, ran.refused)
    return str(found), (found,)


def _differences(case: Case, ran: Ran, shapes: Sequence[Type]) -> Iterator[Difference]:
    for path in case.absent:
        if has_path(ran.value, path):
            yield Difference(path, MISSING, _at(ran.value, path))
    if case.expect is MISSING:
        return
    if case.partial_each:
        got = projected(ran.value, case.partial_each) if isinstance(ran.value, list | tuple) else ran.value
        yield from differences(case.expect, got)
        return
    # Beside `refuses`, `expect` adds what else is wanted of the refusal.
    partial = case.is_partial or case.refuses is not None
    expected = case.expect
    if not partial and shapes:
        is_list = isinstance(expected, list | tuple) and isinstance(ran.value, list | tuple)
        expected = [with_defaults(one, shapes) for one in expected] if is_list else with_defaults(expected, shapes)
        # An empty expectation means that nothing came out, not that every default did.
        expected = case.expect if case.expect == {} and not ran.value else expected
    yield from differences(expected, ran.value, partial=partial)


def _at(value: Any, path: str) -> Any:
    """What a top-level key holds; a message about a deeper one shows only that it is there."""
    return value[path] if isinstance(value, Mapping) and path in value else "something"


def _judge_rules(case: Case, ran: Ran) -> tuple[str, tuple[Difference, ...]] | None:
    fired = set(ran.fired)
    for rule_id in case.fires:
        if rule_id not in fired:
            return f"rule `{rule_id}` did not fire; fired: {', '.join(ran.fired) or 'none'}", ()
    for rule_id in case.silent:
        if rule_id in fired:
            return f"rule `{rule_id}` fired and should have been silent", ()
    return None
