"""The names by which node features are asked for, written down and remembered, and whose key is whose.

What the keys mean is the rules'; what may be written under them is `checks`'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.errors import ContractError

DEFAULT_PREFIX: Final = "feature.node.kubernetes.io/"
"""What an unprefixed key gets. Source: specification 50 §1.3."""
PROFILE_DOMAIN: Final = "profile.node.kubernetes.io"
NODE_NAME: Final = "nfd.node.kubernetes.io/node-name"
"""The label that says which Node an object is for. Source: specification 50 §1.2."""
NFD_LABELS: Final = "nfd.node.kubernetes.io/feature-labels"
NFD_ANNOTATIONS: Final = "nfd.node.kubernetes.io/feature-annotations"
"""A real NFD's bookkeeping, with `<instance>.` before it where it was started so. Source: specification 50 §2.3."""

OWN_LABELS: Final = "provider.gpustack.ai/feature-labels"
OWN_ANNOTATIONS: Final = "provider.gpustack.ai/feature-annotations"
LAST_MANAGED: Final = "provider.gpustack.ai/last-managed"
INSTALLATION: Final = "provider.gpustack.ai/installation"
"""Our bookkeeping on a Node. Source: specification 50 B6, B10, §5.5; the names are chosen there."""

HOST_SUFFIX: Final = "-gpustack-host"
WORKER_SUFFIX: Final = "-gpustack-worker"

CPU_MODEL: Final = "cpu.model"
PCI_DEVICE: Final = "pci.device"

_PCI_LABEL: Final = f"{DEFAULT_PREFIX}pci-"
_CPU_LABEL: Final = f"{DEFAULT_PREFIX}cpu-model."
_OWN_DOMAIN: Final = "gpustack.ai"


def is_own_domain(key: str) -> bool:
    """Under `gpustack.ai` or a domain below it: taken from trusted namespaces only."""
    domain, slash, _ = key.rpartition("/")
    return bool(slash) and (domain == _OWN_DOMAIN or domain.endswith(f".{_OWN_DOMAIN}"))


def is_host_label(key: str) -> bool:
    """A label that only states what the host is."""
    return key.startswith((_PCI_LABEL, _CPU_LABEL))


def is_our_class(key: str) -> bool:
    """A key that Engine manages wherever it is seen; any other belongs to whoever wrote it first."""
    return is_own_domain(key) or is_host_label(key)


@dataclass(frozen=True, slots=True)
class RuleKeys:
    """The keys of the rules that code must know, from the `constants` block."""

    is_acceleratable: str
    managed: str
    cpu_fact: str

    @classmethod
    def of(cls, block: Mapping[str, Any] | None) -> RuleKeys:
        """From the block. Raises: ContractError: a constant is missing."""
        known = block or {}
        try:
            return cls(known["isAcceleratable"], known["managed"], known["cpuFact"])
        except KeyError as error:
            raise ContractError(
                f"no constant {error.args[0]}",
                why="node features are judged by it",
                remedy="link the derivation packs that were shipped with this engine",
            ) from error
