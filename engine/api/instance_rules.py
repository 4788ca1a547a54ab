"""What the API server itself checks about an Instance: what is frozen, starts and stops, amounts that cannot be.

Source: specification 20 §7.1, §7.3. What needs another object or a setting is the webhook's, and an object that is being
deleted cannot be told apart here: its spec no longer changes, so nothing is in the way of its finalizer.
"""

from __future__ import annotations

from typing import Final

from engine.api.instance_volumes import NO_VOLUME
from engine.api.rule import LIST, NO, OBJECT, TEXT, Blame, Rule, unchanged

FROZEN: Final = {
    "type": TEXT,
    "image": TEXT,
    "imagePullPolicy": TEXT,
    "command": LIST,
    "privileged": NO,
    "ports": LIST,
    "env": LIST,
    "volumeMount": TEXT,
    "imagePullSecret": OBJECT,
    "resources": OBJECT,
    "sshPublicKey": OBJECT,
    "nodeName": TEXT,
    "additionalVolumes": LIST,
}
"""Fields that may be changed only while the Instance is stopped, and when one says as much as an absent one."""

_WAS_STOPPED: Final = "oldSelf.?stop.orValue(false)"
_WAS: Final = "oldSelf.spec.?stop.orValue(false)"
_IS: Final = "self.spec.?stop.orValue(false)"
_PHASE: Final = "oldSelf.?status.?phase.orValue('')"

SPEC_RULES: Final = (
    Rule("self.?type.orValue('') != ''", "type must be specified", "type", Blame.REQUIRED, on_create=True),
    Rule("has(self.volume)", NO_VOLUME, "volume", Blame.REQUIRED, on_create=True),
    *(
        Rule(f"{_WAS_STOPPED} || {unchanged(field, empty)}", f"{field} is immutable", field, Blame.FORBIDDEN)
        for field, empty in FROZEN.items()
    ),
    Rule(unchanged("volume", OBJECT), "volume is immutable", "volume", Blame.FORBIDDEN),
    Rule(
        "!has(self.additionalVolumes) || !has(self.volumeMount) ||"
        " !self.additionalVolumes.exists(each, each.mountPath == self.volumeMount)",
        "must not mount at volumeMount",
        "additionalVolumes",
    ),
)

ROOT_RULES: Final = (
    Rule(
        f"!({_WAS} && !{_IS}) || {_PHASE} == 'Stopped'",
        "can only start stopped instance",
        "spec.stop",
        Blame.FORBIDDEN,
    ),
    Rule(
        f"!(!{_WAS} && {_IS}) || {_PHASE} != 'Starting'", "cannot stop starting instance", "spec.stop", Blame.FORBIDDEN
    ),
)


def _amount(field: str, check: str) -> str:
    """The field is absent, is no quantity (the schema says so), or passes."""
    text = f"string(self.{field})"
    return f"!has(self.{field}) || !isQuantity({text}) || quantity({text}).{check}"


def _not_negative(field: str, message: str) -> Rule:
    return Rule(_amount(field, "compareTo(quantity('0')) >= 0"), message, field)


def _percentage(field: str) -> Rule:
    return Rule(f"!has(self.{field}) || (self.{field} >= 0 && self.{field} <= 100)", "must be between 0 and 100", field)


_MEMORY: Final = "acceleratorSlicedMemoryPercentage"
_CORES: Final = "acceleratorSlicedCoresPercentage"
_PROFILE: Final = "acceleratorPartitionedProfile"
_IS_SLICE: Final = f"(self.?{_MEMORY}.orValue(0) > 0 || self.?{_CORES}.orValue(0) > 0)"
_IS_PARTITION: Final = f"self.?{_PROFILE}.orValue('') != ''"
_AT_MOST_ONE: Final = _amount("accelerator", "compareTo(quantity('1')) <= 0")

RESOURCE_RULES: Final = (
    _not_negative("accelerator", "accelerator request cannot be negative"),
    Rule(_amount("accelerator", "isInteger()"), "accelerator request must be a whole number of cards", "accelerator"),
    Rule(
        f"!{_IS_SLICE} || ({_AT_MOST_ONE})", "accelerator request must be exactly 1 for a sliced request", "accelerator"
    ),
    Rule(
        f"!({_IS_PARTITION}) || ({_AT_MOST_ONE})",
        "accelerator request must be exactly 1 for a partitioned request",
        "accelerator",
    ),
    _percentage(_MEMORY),
    _percentage(_CORES),
    Rule(
        f"!({_IS_PARTITION} && {_IS_SLICE})",
        f"a hardware partition and a logical slice percentage are mutually exclusive; clear {_MEMORY} and {_CORES}",
        _PROFILE,
    ),
    _not_negative("cpu", "CPU request cannot be negative"),
    _not_negative("ram", "RAM request cannot be negative"),
    _not_negative("localStorage", "local storage request cannot be negative"),
)
