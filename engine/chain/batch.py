"""Changes folded into what each subject comes to: the last word on every node, type, namespace and setting.

Nothing is checked or applied here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

from engine.chain.changes import (
    Change,
    InstanceTypeRecorded,
    InstanceTypeRemoved,
    InstanceTypeSet,
    NamespaceRemoved,
    NamespaceSet,
    NodeRemoved,
    NodeSet,
    SettingsChanged,
)


@dataclass(slots=True)
class Batch:
    """The last word on every subject; None (or False) means that it is gone."""

    nodes: dict[str, NodeSet | None] = field(default_factory=dict)
    types: dict[str, Mapping[str, Any] | None] = field(default_factory=dict)
    recorded: dict[str, InstanceTypeRecorded] = field(default_factory=dict)
    replaced: set[str] = field(default_factory=set)
    namespaces: dict[str, bool] = field(default_factory=dict)
    settings: dict[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, changes: Iterable[Change]) -> Batch:
        """The changes, folded in order. Shape: `replaced` are types that were removed and then set again."""
        batch = cls()
        for change in changes:
            batch._fold(change)
        return batch

    def _fold(self, change: Change) -> None:
        match change:
            case NodeSet():
                self.nodes[change.facts.name] = change
            case NodeRemoved():
                self.nodes[change.name] = None
            case SettingsChanged():
                self.settings |= change.values
            case InstanceTypeSet():
                if self.types.get(change.name, change) is None:
                    self.replaced.add(change.name)
                self.types[change.name] = change.spec
            case InstanceTypeRecorded():
                self.recorded[change.name] = change
            case InstanceTypeRemoved():
                self.types[change.name] = None
            case NamespaceSet():
                self.namespaces[change.name] = True
            case NamespaceRemoved():
                self.namespaces[change.name] = False
            case _:
                assert_never(change)
