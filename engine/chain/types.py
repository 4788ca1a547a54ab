"""InstanceTypes as they are made: from a pool, once, or from what a person wrote, with defaults and checks.

Create-only: a type is never changed because its pool changed. Whether it is alive (queue, views, phase) is `queues`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.chain.changes import InstanceTypeRecorded
from engine.chain.fields import Labels
from engine.chain.told import told
from engine.domain.presets import Presets, load_presets, tier_of
from engine.errors import InputError
from engine.sections.answer import Evaluator
from engine.sections.entrance import Entrance, queue_entrance
from engine.sections.pool import Pool
from engine.sections.pool_labels import pool_labels
from engine.sections.queue import QueueFields, queue_fields
from engine.sections.type import type_fields
from engine.values.names import slug

GENERIC: Final = "generic"
EDITABLE: Final = ("displayName", "description", "inactive")
"""Source: specification 20 §6.2."""

_SPEC: Final = (
    "displayName",
    "description",
    "inactive",
    "acceleratorGroup",
    "generalGroup",
    "acceleratable",
    "os",
    "arch",
    "unitResources",
    "localStorage",
)
_WHOLE: Final = re.compile(r"[1-9][0-9]*", re.ASCII)
_GIB: Final = re.compile(r"[1-9][0-9]*Gi", re.ASCII)
_NO_GIB: Final = 'must be a positive integer with a case-sensitive "Gi" suffix'


@dataclass(frozen=True, slots=True)
class MadeType:
    """A type as it was made. Shape: `labels` are the type's, `selector` the part that selects flavors."""

    name: str
    spec: Mapping[str, Any]
    labels: Labels
    selector: Labels
    entrance: Entrance
    queue: QueueFields
    derived: bool

    @property
    def local_queue_annotations(self) -> dict[str, str]:
        """The annotations of every LocalQueue of the type."""
        return dict(self.entrance.annotations)


class TypeMaker:
    """Makes types with one program; keeps the makers' preset tables and answers that are the same for every type."""

    def __init__(self, program: Evaluator) -> None:
        self._program = program
        self._presets: dict[str, Presets] = {}
        self._last_queue: QueueFields | None = None

    def derive(
        self, pool: Pool, product: str | None, manufacturer: str | None, settings: Mapping[str, Any]
    ) -> MadeType | None:
        """The type of a pool; None while none is authored.

        Shape: `product` and `manufacturer` are the cards' (the CPU's product for a pool without cards).
        Raises: EvaluationError: a section could not tell.
        """
        tier = self._tier(manufacturer, product) if pool.acceleratable and manufacturer and product else None
        answer = type_fields(self._program, settings, pool, product=product, tier=tier)
        if answer.is_nothing:
            return None
        fields = told(answer)
        spec: dict[str, Any] = {
            "displayName": fields.display_name,
            "acceleratable": pool.acceleratable,
            "generalGroup": pool.general_group,
            "os": pool.os,
            "arch": pool.arch,
            "unitResources": {"cpu": fields.cpu, "ram": fields.ram},
            "localStorage": fields.local_storage,
        }
        if pool.accelerator_group:
            spec["acceleratorGroup"] = pool.accelerator_group
        return self._make(pool.name, spec, dict(fields.labels), derived=True)

    def author(self, name: str, spec: Mapping[str, Any]) -> MadeType:
        """The type a person wrote, checked by `check_spec` before.

        Raises: EvaluationError: a section could not tell.
        """
        full = {field: spec[field] for field in _SPEC if spec.get(field) is not None}
        full["acceleratable"] = bool(spec.get("acceleratable"))
        full["generalGroup"] = spec.get("generalGroup") or GENERIC
        full["unitResources"] = dict(spec["unitResources"])
        return self._make(name, full, {}, derived=False)

    def recorded(self, seen: InstanceTypeRecorded) -> MadeType:
        """A type as it stood on a cluster; its labels are what they are, whatever rules would give it now.

        Raises: EvaluationError: a section could not tell.
        """
        entrance = told(queue_entrance(self._program, seen.name))
        queue = told(queue_fields(self._program, seen.name))
        return MadeType(seen.name, seen.spec, seen.labels, seen.selector, entrance, queue, seen.derived)

    def _make(self, name: str, spec: dict[str, Any], labels: dict[str, str], *, derived: bool) -> MadeType:
        selector = told(
            pool_labels(
                self._program,
                acceleratable=spec["acceleratable"],
                general_group=spec["generalGroup"],
                accelerator_group=spec.get("acceleratorGroup"),
                os=spec["os"],
                arch=spec["arch"],
            )
        )
        entrance = told(queue_entrance(self._program, name))
        queue = told(queue_fields(self._program, name))
        if queue == self._last_queue:
            queue = self._last_queue
        self._last_queue = queue
        full = {**selector, **labels, **dict(entrance.type_labels)}
        return MadeType(name, spec, full, selector, entrance, queue, derived)

    def _tier(self, manufacturer: str, product: str) -> str | None:
        if manufacturer not in self._presets:
            self._presets[manufacturer] = load_presets(self._program.block("presets", manufacturer) or {})
        return tier_of(self._presets[manufacturer], slug(product, manufacturer, 0))


def check_spec(name: str, spec: Mapping[str, Any]) -> None:
    """Everything the API server would refuse in a new type.

    Raises: InputError: with all problems in one message. Source: specification 20 §6.2, texts verbatim.
    """
    accelerated = bool(spec.get("acceleratable"))
    unit = spec.get("unitResources") or {}
    cpu = str(unit.get("cpu") or "")
    problems = []
    if accelerated and not spec.get("acceleratorGroup"):
        problems.append("spec.acceleratorGroup: Required value: must be specified when acceleratable is true")
    problems += [f"spec.{field}: Required value: must be specified" for field in ("os", "arch") if not spec.get(field)]
    if accelerated and not _WHOLE.fullmatch(cpu):
        problems.append(_invalid("spec.unitResources.cpu", cpu, "must be a positive integer with no unit suffix"))
    if not accelerated and cpu != "1":
        problems.append(_invalid("spec.unitResources.cpu", cpu, "must be 1 when acceleratable is false"))
    sizes = {"spec.unitResources.ram": unit.get("ram"), "spec.localStorage": spec.get("localStorage")}
    problems += [
        _invalid(path, str(text or ""), _NO_GIB) for path, text in sizes.items() if not _GIB.fullmatch(str(text or ""))
    ]
    if problems:
        raise InputError(f"InstanceType {name} is invalid", why="; ".join(problems))


def edited(name: str, made: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec after an update: the three editable fields as given, the rest as it was.

    Raises: InputError: another field differs. Source: specification 20 §6.2.
    """
    given = {field: spec[field] for field in _SPEC if spec.get(field) is not None}
    given.setdefault("generalGroup", GENERIC)
    given.setdefault("acceleratable", False)
    frozen = [field for field in _SPEC if field not in EDITABLE and given.get(field) != made.get(field)]
    if frozen:
        raise InputError(
            f"InstanceType {name} is invalid",
            why=f"spec: Forbidden: is immutable except displayName, description and inactive ({', '.join(frozen)})",
        )
    kept = {field: value for field, value in made.items() if field not in EDITABLE}
    return kept | {field: given[field] for field in EDITABLE if field in given}


def _invalid(path: str, value: str, why: str) -> str:
    return f'{path}: Invalid value: "{value}": {why}'
