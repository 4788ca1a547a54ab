"""How a worker is run: what its command's options come to.

What people change while it runs are settings, and not here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from engine.features.foreign import Provider

SYSTEM_NAMESPACE: Final = "gpustack-system"
LEASE: Final = "worker.gpustack.ai"
"""Source: specification 20 §12, the id of the leader election."""


@dataclass(frozen=True, slots=True)
class Options:
    """Shape: `identity` is unique to this process; `environment` seeds settings that are not stored yet.

    A Node whose host says nothing gets no label for `mark_after_seconds`, and is marked alone until
    `unknown_cpu_after_seconds`: its keys would name flavors after an unknown CPU, and be others a moment later.
    """

    identity: str
    namespace: str = SYSTEM_NAMESPACE
    is_elected: bool = True
    provider: Provider = Provider.BUILTIN
    trusted_namespaces: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    workers: int = 16
    prepare_seconds: float = 300.0
    served_seconds: float = 60.0
    mark_after_seconds: float = 2.0
    unknown_cpu_after_seconds: float = 60.0
