"""What an evaluation tells whoever measures coverage: the observer's protocol.

Holds no counters and decides nothing: `packtest_coverage` counts, `evaluate` calls. An evaluation without an observer
makes none of these calls.
"""

from __future__ import annotations

from typing import Protocol


class Observer(Protocol):
    """Told what each leaf rule of a section did, in the order in which it happened.

    Shape: `rule_id` is always a leaf's (groups have none). A rule that `first` never came to gets no call at all.
    """

    def rule_fired(self, section: str, rule_id: str) -> None:
        """The rule is about to emit, or to say `unknown`; once for each item when it iterates."""

    def rule_silent(self, section: str, rule_id: str) -> None:
        """The rule's own `when`, or that of a group around it, was false; once for each item when it iterates."""

    def items(self, section: str, rule_id: str, count: int) -> None:
        """How many items a `forEach` above the rule (its own, or a group's) goes over; 0 included."""

    def optional_key(self, section: str, rule_id: str, path: str, *, present: bool) -> None:
        """A `key?` of the rule's emit was kept or left out.

        Shape: `path` is the keys as the pack writes them joined by dots, without the `?` and with templates unexpanded
        (`notes.family`, `$(const.os)`); list elements add nothing to it.
        """
