"""What the rules in force make of InstanceTypes and pools: asked once for each, until rules or settings are others.

What is done about a type that cannot be made is `controllers.instancetype`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.chain.changes import Condition
from engine.chain.pools import KIND, PoolView
from engine.chain.types import MadeType, TypeMaker, check_spec
from engine.cluster.objects import Owned
from engine.errors import EvaluationError, InputError
from engine.values.names import is_label_key, is_label_value
from engine.worker.asking import Keys
from engine.worker.controllers.instancetype import REFUSED, UNTOLD, Refusal
from engine.worker.inforce import InForce
from engine.worker.supply import selector_of

Made = tuple[MadeType | None, Refusal | None]


class Making:
    """Answers by type, each kept while its spec is the same."""

    def __init__(self, rules: InForce) -> None:
        self._rules = rules
        self._program = rules.program
        self._maker = TypeMaker(rules.program)
        self._made: dict[str, tuple[Mapping[str, Any], Made]] = {}

    def forget(self) -> None:
        """Rules or settings are others now."""
        self._made.clear()
        if self._rules.program is not self._program:
            self._program = self._rules.program
            self._maker = TypeMaker(self._program)

    def drop(self, name: str) -> None:
        """A type is gone."""
        self._made.pop(name, None)

    def made(self, live: Owned) -> Made:
        """What the rules make of a live type's spec, or why they do not."""
        name = live.metadata.name
        known = self._made.get(name)
        if known is not None and known[0] == live.spec:
            return known[1]
        made = self._make(name, live.spec)
        self._made[name] = live.spec, made
        return made

    def selector(self, live: Owned, keys: Keys) -> Mapping[str, str]:
        """The labels by which a type takes flavors; none for one that is refused. In doubt, as its labels say."""
        made, refusal = self.made(live)
        if made is not None:
            return made.selector
        return selector_of(live.metadata.labels, keys) if refusal is not None and refusal.reason == UNTOLD else {}

    def derived(self, view: PoolView) -> tuple[MadeType | None, Condition | None]:
        """The type that the rules author for a pool, if any, or that they could not tell."""
        try:
            return self._maker.derive(view.pool, view.product, view.manufacturer, self._rules.settings), None
        except EvaluationError as error:
            return None, Condition(KIND, view.pool.name, UNTOLD, str(error))

    def _make(self, name: str, spec: Mapping[str, Any]) -> Made:
        try:
            check_spec(name, spec)
            return _fitting(self._maker.author(name, spec)), None
        except InputError as error:
            remedy = "its spec cannot change: delete the InstanceType, and create it with one that fits"
            return None, Refusal(REFUSED, f"{error}; {remedy}")
        except EvaluationError as error:
            remedy = "the InstanceType is served as soon as the rules can tell; `engine explain` shows the rule"
            return None, Refusal(UNTOLD, f"{error}; {remedy}")


def _fitting(made: MadeType) -> MadeType:
    """Raises: InputError: a label of the type could not be written; a name in its spec is too long, or no name."""
    for key, text in sorted(made.labels.items()):
        if not (is_label_key(key) and is_label_value(text)):
            raise InputError(
                f"InstanceType {made.name} is invalid",
                why=f'its label {key}="{text}" is none: at most 63 letters, digits, "-", "_" and "." after the slash and in'
                " the value, with a letter or digit at both ends",
            )
    return made
