"""Where the API server is and who we are to it: in-cluster, or from a kubeconfig.

In-cluster nothing but the standard library is imported, because node agents pay for every MiB; `kubernetes` is loaded only
when a kubeconfig is given. TLS is always verified: a kubeconfig that turns it off is refused.
"""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from engine.cluster.clock import SYSTEM_CLOCK, Clock
from engine.cluster.credentials import Credentials, FixedCredentials, RenewedCredentials, TokenFile
from engine.cluster.errors import SettingsError

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a Pod finds token, ca.crt and namespace. Source: Kubernetes, service account admission."""

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Connection:
    """All that a transport needs. `ssl_context` is None only for http on the loopback (`kubectl proxy`, tests)."""

    server: str
    ssl_context: ssl.SSLContext | None
    credentials: Credentials
    namespace: str = "default"
    server_name: str | None = None


async def connection(kubeconfig: Path | None = None, context: str | None = None) -> Connection:
    """The kubeconfig given, else the Pod's service account, else $KUBECONFIG or ~/.kube/config.

    Raises: SettingsError: none of them is usable.
    """
    if kubeconfig is None and os.environ.get("KUBERNETES_SERVICE_HOST"):
        return in_cluster(os.environ)
    if kubeconfig is None:
        kubeconfig = Path(os.environ.get("KUBECONFIG") or Path.home() / ".kube" / "config")
    return await from_kubeconfig(kubeconfig, context)


def in_cluster(environ: Mapping[str, str], folder: Path = SERVICE_ACCOUNT, clock: Clock = SYSTEM_CLOCK) -> Connection:
    """The Pod's own service account. Raises: SettingsError."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise SettingsError(
            "not in a cluster",
            why="KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set",
            remedy="give a kubeconfig",
        )
    namespace_file = folder / "namespace"
    return Connection(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        ssl_context=_context(folder / "ca.crt"),
        credentials=TokenFile(folder / "token", clock),
        namespace=namespace_file.read_text(encoding="utf-8").strip() if namespace_file.is_file() else "default",
    )


async def from_kubeconfig(path: Path, context: str | None = None) -> Connection:
    """A kubeconfig: client certificates, token, exec plugin. Raises: SettingsError. Cost: imports `kubernetes`, ~1 s."""
    try:
        from kubernetes.aio.client import Configuration
        from kubernetes.aio.config import load_kube_config
        from kubernetes.aio.config.kube_config import _cleanup_temp_files
    except ImportError as error:
        raise SettingsError(
            "a kubeconfig needs the package `kubernetes`",
            where=str(path),
            why=str(error),
            remedy="install kubernetes>=37",
        ) from error
    # The loader writes certificates and keys that the kubeconfig holds inline to files; they live as long as this block.
    with tempfile.TemporaryDirectory(prefix="engine-kubeconfig-") as folder, contextlib.ExitStack() as stack:
        # It remembers them by content, also when they are gone.
        stack.callback(_cleanup_temp_files)
        settings = Configuration()
        try:
            loader = await load_kube_config(  # type: ignore[no-untyped-call]
                config_file=str(path),
                context=context,
                client_configuration=settings,
                persist_config=False,
                temp_file_path=folder,
            )
        except Exception as error:  # whatever a YAML reader and a loader may raise over a file
            raise SettingsError(
                "the kubeconfig cannot be used",
                where=str(path),
                why=str(error),
                remedy="check the file and its context",
            ) from error
        _refuse_unverified(settings, path)
        server_context = None
        if settings.host.startswith("https"):
            server_context = _context(
                Path(settings.ssl_ca_cert) if settings.ssl_ca_cert else None,
                certificate=settings.cert_file,
                key=settings.key_file,
            )
        return Connection(
            server=settings.host,
            ssl_context=server_context,
            credentials=_credentials(loader, settings, path),
            namespace=_namespace(loader),
            server_name=settings.tls_server_name or None,
        )


def _refuse_unverified(settings: Any, path: Path) -> None:
    url = urlsplit(settings.host)
    if not settings.verify_ssl:
        raise SettingsError(
            "the kubeconfig turns TLS verification off",
            where=str(path),
            why="insecure-skip-tls-verify is true",
            remedy="give certificate-authority-data, and tls-server-name when the name differs",
        )
    if url.scheme != "https" and url.hostname not in _LOOPBACK:
        raise SettingsError(
            "the API server is not reached over TLS", where=str(path), why=settings.host, remedy="use an https server"
        )
    if settings.proxy:
        raise SettingsError(
            "the kubeconfig names a proxy", where=str(path), why=settings.proxy, remedy="reach the server directly"
        )


def _credentials(loader: Any, settings: Any, path: Path) -> Credentials:
    has_certificate = bool(settings.cert_file)
    if "exec" not in loader._user:  # noqa: SLF001 - the loader has no public face for it
        return FixedCredentials(settings.api_key.get("BearerToken"))

    async def fetch(is_refused: bool) -> str | None:  # noqa: FBT001
        if is_refused and hasattr(loader, "exec_plugin_expiry"):
            del loader.exec_plugin_expiry
        if is_refused or hasattr(loader, "exec_plugin_expiry"):
            await loader.load_from_exec_plugin()  # runs the plugin only when its answer has expired
        token: str | None = getattr(loader, "token", None)
        if token is None and not has_certificate:
            raise SettingsError(
                "the exec plugin of the kubeconfig gave no credentials",
                where=str(path),
                remedy="run its command by hand; it must print an ExecCredential",
            )
        return token

    return RenewedCredentials(fetch)


def _namespace(loader: Any) -> str:
    value: str | None = loader.current_context["context"].get("namespace")
    return value or "default"


def _context(ca_file: Path | None, certificate: str | None = None, key: str | None = None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
        if certificate:
            context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            "the certificates cannot be read", where=str(ca_file or certificate), why=str(error)
        ) from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
