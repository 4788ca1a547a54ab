"""Reads the labels of a node back into accelerator groups: what the node's labels say is what the chain goes by.

The keys and suffixes are the `constants` block's, so that rules and code cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.sections.constants import read_constants


@dataclass(frozen=True, slots=True)
class Constants:
    """The constants that code reads labels, and names what it makes, by; every prefix ends in its separator, every suffix begins with it."""

    acceleratable: str
    is_acceleratable: str
    managed: str
    os: str
    arch: str
    count: str
    memory: str
    product: str
    family: str
    cores: str
    note: str
    check_node_devices: str

    @classmethod
    def of(cls, block: Mapping[str, str] | None) -> Constants:
        """From the `constants` block.

        Raises: ContractError: a constant is missing; the derivation packs in force do not fit this code.
        """
        known = read_constants(block)
        return cls(
            acceleratable=known["acceleratable"],
            is_acceleratable=known["isAcceleratable"],
            managed=known["managed"],
            os=known["os"],
            arch=known["arch"],
            count=known["count"],
            memory=known["memory"],
            product=known["product"],
            family=known["family"],
            cores=known["cores"],
            note=known["note"],
            check_node_devices=known["checkNodeDevices"],
        )


@dataclass(frozen=True, slots=True)
class LabelledGroup:
    """One accelerator key as the labels of a node describe it; texts are the labels'."""

    key: str
    manufacturer: str
    product: str
    family: str | None
    memory: str | None
    cores: str
    count: int


def read_groups(labels: Mapping[str, str], constants: Constants, makers: frozenset[str]) -> tuple[LabelledGroup, ...]:
    """The accelerator groups that labels describe, sorted by key.

    Shape: a key is the rest of a label under the prefix whose value is `true`, has a `-`, and begins with a known maker.
    A key whose count is no positive number is left out.
    """
    prefix = constants.acceleratable
    groups: list[LabelledGroup] = []
    for label, value in labels.items():
        if value != "true" or not label.startswith(prefix):
            continue
        key = label[len(prefix) :]
        maker, dash, _ = key.partition("-")
        count = read_count(labels.get(label + constants.count))
        if dash and maker in makers and count > 0:
            groups.append(
                LabelledGroup(
                    key=key,
                    manufacturer=maker,
                    product=labels.get(label + constants.product, ""),
                    family=labels.get(label + constants.family),
                    memory=labels.get(label + constants.memory),
                    cores=labels.get(label + constants.cores, "0"),
                    count=count,
                )
            )
    return tuple(sorted(groups, key=lambda group: group.key))


def read_count(text: str | None) -> int:
    """A count label as a number; 0 for anything that is not one."""
    return int(text) if text is not None and text.isascii() and text.isdigit() else 0
