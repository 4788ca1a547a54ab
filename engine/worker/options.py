"""How a worker is run: what its command's options come to.

What people change while it runs are settings, and not here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from engine.errors import UsageError
from engine.features.foreign import Provider

SYSTEM_NAMESPACE: Final = "gpustack-system"
LEASE: Final = "worker.gpustack.ai"
"""Source: specification 20 §12, the id of the leader election."""

SECURE_PORT: Final = 31443
"""Source: specification 40 §1.9."""
LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Serving:
    """Where probes and metrics are served. Shape: an empty `host` is all addresses; both files, or neither.

    Raises: UsageError: an address that is none, one file without the other, other machines served without TLS.
    """

    port: int = SECURE_PORT
    host: str = ""
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise UsageError(
                "a certificate and its key go together",
                why=f"only {self.certificate or self.key} was given",
                remedy="give both --tls-cert-file and --tls-private-key-file",
            )
        try:
            is_loopback = bool(self.host) and ip_address(self.host).is_loopback
        except ValueError as error:
            raise UsageError(f"{self.host} is no address", why=str(error), remedy="give an IP address") from error
        if self.certificate is None and not is_loopback:
            raise UsageError(
                f"nothing is served to other machines without TLS ({self.host or 'all addresses'})",
                remedy=f"give --tls-cert-file and --tls-private-key-file, or --bind-address {LOOPBACK}",
            )


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
    serving: Serving | None = None
    version: str = ""
    workers: int = 16
    prepare_seconds: float = 300.0
    served_seconds: float = 60.0
    mark_after_seconds: float = 2.0
    unknown_cpu_after_seconds: float = 60.0
