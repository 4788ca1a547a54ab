"""The rule object `gpustack-cpu-info`, which a real NFD evaluates for us: written in `nfd` mode only.

In built-in mode its content is the `host-labels` section, and the object must not be there: a stock NFD beside us would
write its references onto Nodes as they stand. Source: specification 20 §2.3, 50 §4.5, B13.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from engine.cluster.actions import Action, Apply, Delete
from engine.cluster.resources import NODE_FEATURE_RULES, ObjectKey
from engine.errors import ContractError
from engine.features.foreign import Provider
from engine.features.keys import CPU_MODEL, PCI_DEVICE, RuleKeys

NAME: Final = "gpustack-cpu-info"
MANAGER: Final = "engine-cpu-info"
PART_OF: Final = "app.kubernetes.io/part-of"
OPERATOR: Final = "gpustack-operator"
CLASSES: Final = ("^02", "^03", "^0b", "^12")
_FOUND: Final = "has-acceleratable-devices"
_FACTS: Final = (
    "name",
    "family",
    "physical_cores",
    "threads_per_core",
    "logical_cores",
    "stepping",
    "cache_line",
    "hz",
    "boost_freq",
    "cache_l1i",
    "cache_l1d",
    "cache_l2",
    "cache_l3",
)


def pci_vendors(identities: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The PCI vendors of makers' identities, sorted, each once."""
    return tuple(sorted({row["vendor"] for identity in identities for row in identity.get("pci") or ()}))


def cpu_info_rule(vendors: tuple[str, ...], keys: RuleKeys) -> dict[str, Any]:
    """The rule object.

    Raises: ContractError: no vendor; an NFD would then deny every node its accelerators.
    """
    if not vendors:
        raise ContractError(
            f"{NAME} would name no PCI vendor",
            why="every node would be labelled as one without accelerators",
            remedy="link at least one manufacturer's pack with an identity",
        )
    facts = {f"{keys.cpu_fact}{name.replace('_', '-')}": f"@{CPU_MODEL}.{name}" for name in _FACTS}
    rules = [
        {
            "name": "attached cpu info to annotations",
            "matchFeatures": [_term(CPU_MODEL, vendor_id=("Exists", ()))],
            "annotations": facts,
        },
        {
            "name": "detect whether the node has acceleratable devices",
            "matchFeatures": [_term(PCI_DEVICE, **{"class": ("InRegexp", CLASSES), "vendor": ("In", vendors)})],
            "vars": {_FOUND: "true"},
        },
        {
            "name": "identify the node without any acceleratable device",
            "matchFeatures": [_term("rule.matched", **{_FOUND: ("DoesNotExist", ())})],
            "labels": {keys.is_acceleratable: "false"},
        },
    ]
    return NODE_FEATURE_RULES.body(NAME, metadata={"labels": {PART_OF: OPERATOR}}, spec={"rules": rules})


def plan_rule(
    provider: Provider, vendors: tuple[str, ...], keys: RuleKeys, *, is_ours_there: bool, is_nfd_gone: bool
) -> list[Action]:
    """The rule object, where it belongs and only there. An object of ours is removed once no NFD could miss it."""
    if provider is Provider.NFD:
        return [Apply(NODE_FEATURE_RULES, cpu_info_rule(vendors, keys), MANAGER)]
    if is_ours_there and is_nfd_gone:
        return [Delete(NODE_FEATURE_RULES, ObjectKey("", NAME))]
    return []


def _term(feature: str, **expressions: tuple[str, tuple[str, ...]]) -> dict[str, Any]:
    matches = {
        element: {"op": operator, **({"value": list(values)} if values else {})}
        for element, (operator, values) in expressions.items()
    }
    return {"feature": feature, "matchExpressions": matches}
