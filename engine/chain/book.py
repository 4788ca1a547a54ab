"""What the rules say of each flavor: its fields, its pool and its catalogue row, asked again only when its input differs.

Grouping is `flavors`; this never looks at a node. Two flavor keys under one name are never merged: the lesser key has
the name, and a condition names both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.chain.changes import Condition
from engine.chain.fields import AcceleratorIdentity, CatalogueRow, FlavorFields, FlavorKey
from engine.chain.flavors import FlavorInput
from engine.chain.told import told
from engine.errors import EvaluationError
from engine.sections.answer import Evaluator
from engine.sections.catalogue import catalogue_row
from engine.sections.flavor import Accelerator, flavor_fields
from engine.sections.pool import Pool, flavor_pool

KIND = "ResourceFlavor"


@dataclass(frozen=True, slots=True)
class FlavorEntry:
    """One flavor as the rules have it, with the input they had."""

    input: FlavorInput
    fields: FlavorFields
    pool: Pool
    row: CatalogueRow


class FlavorBook:
    """The entries of all flavors, by key, and who has which name."""

    def __init__(self, program: Evaluator) -> None:
        self._program = program
        self._entries: dict[FlavorKey, FlavorEntry] = {}
        self._named: dict[str, set[FlavorKey]] = {}
        self._pools: dict[tuple[str, str, str, str], Pool] = {}
        self._conditions: dict[FlavorKey, Condition] = {}
        self._clashing: set[str] = set()

    def forget_answers(self) -> None:
        """The settings are others now: every section is asked again when its flavor is put."""
        self._pools.clear()

    def put(
        self, key: FlavorKey, group: FlavorInput | None, settings: Mapping[str, Any], *, ask_again: bool
    ) -> set[str]:
        """The flavor comes to this now, or is gone. Returns the names it had and has.

        Shape: where a section could not tell, the entry stays as it was and a condition says why.
        """
        before = self._entries.get(key)
        names = {before.fields.name} if before else set()
        if group is None:
            self._conditions.pop(key, None)
            self._drop(key)
            return names
        if before is not None and before.input == group and not ask_again:
            return set()
        try:
            entry = self._ask(group, settings)
        except EvaluationError as reason:
            self._conditions[key] = Condition(KIND, _text(key), "CouldNotTell", str(reason))
            return set()
        self._conditions.pop(key, None)
        self._drop(key)
        self._entries[key] = entry
        keys = self._named.setdefault(entry.fields.name, set())
        keys.add(key)
        if len(keys) > 1:
            self._clashing.add(entry.fields.name)
        return names | {entry.fields.name}

    def name(self, key: FlavorKey) -> str | None:
        """The name the flavor has, if it has an entry."""
        entry = self._entries.get(key)
        return entry.fields.name if entry else None

    def entry(self, name: str) -> FlavorEntry | None:
        """The flavor of that name; of several keys with the name, the least."""
        keys = self._named.get(name)
        return self._entries[min(keys)] if keys else None

    def conditions(self) -> list[Condition]:
        """What could not be told, and names that several keys claim."""
        clashes = [
            Condition(KIND, name, "NameClash", f"{_texts(self._named[name])} have one name; the first has it")
            for name in self._clashing
        ]
        return [*self._conditions.values(), *clashes]

    def _drop(self, key: FlavorKey) -> None:
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        keys = self._named[entry.fields.name]
        keys.discard(key)
        if len(keys) == 1:
            self._clashing.discard(entry.fields.name)
        if not keys:
            del self._named[entry.fields.name]

    def _ask(self, group: FlavorInput, settings: Mapping[str, Any]) -> FlavorEntry:
        key = group.key
        accelerator = None if group.accelerator is None else _accelerator(group.accelerator, group)
        said = told(
            flavor_fields(
                self._program,
                settings,
                os=key.os,
                arch=key.arch,
                count=key.count,
                nodes=group.nodes,
                cpu=group.cpu,
                accelerator=accelerator,
                topology=group.profile,
            )
        )
        fields = FlavorFields(
            key=key,
            name=said.name,
            base=said.base,
            topology_name=said.topology_name,
            tolerations=tuple(dict(each) for each in said.tolerations),
            labels=dict(said.labels),
            node_labels=dict(said.node_labels),
            notes=dict(said.notes),
            nodes=group.nodes,
            cpu=group.cpu,
            accelerator=group.accelerator,
        )
        pool = self._pool(key, settings)
        row = told(catalogue_row(self._program, pool, group.cpu, accelerator))
        return FlavorEntry(group, fields, pool, CatalogueRow(row.name, dict(row.spec)))

    def _pool(self, key: FlavorKey, settings: Mapping[str, Any]) -> Pool:
        asked = (key.os, key.arch, key.cpu, key.accelerator)
        pool = self._pools.get(asked)
        if pool is None:
            pool = self._pools[asked] = told(
                flavor_pool(
                    self._program,
                    settings,
                    os=key.os,
                    arch=key.arch,
                    cpu_key=key.cpu,
                    accelerator_key=key.accelerator or None,
                )
            )
        return pool


def _accelerator(identity: AcceleratorIdentity, group: FlavorInput) -> Accelerator:
    return Accelerator(
        key=identity.key,
        manufacturer=identity.manufacturer,
        product=identity.product,
        family=identity.family,
        memory=identity.memory,
        cores=identity.cores,
        sliceable=group.sliceable,
    )


def _text(key: FlavorKey) -> str:
    accelerated = f" {key.accelerator}" if key.accelerator else ""
    return f"{key.count} x {key.cpu}{accelerated} {key.os}/{key.arch} {key.profile}"


def _texts(keys: set[FlavorKey]) -> str:
    return " and ".join(map(_text, sorted(keys)))
