"""Keys, certificates and kubeconfigs of one run, made with openssl.

Every key stays in the run's folder. A command rather than a Python library: nothing else in the project signs anything yet.
"""

from __future__ import annotations

import base64
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.cluster.errors import ClusterError
from tests.cluster.layout import API_SERVER, FIRST_SERVICE, Folder

DAYS: Final = 30
_EC_KEY: Final = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")

AUTHORITY, FRONT_PROXY = "ca", "front-proxy-ca"
USERS: Final = {
    "admin": "/O=system:masters/CN=admin",
    "kube-controller-manager": "/CN=system:kube-controller-manager",
    "kube-scheduler": "/CN=system:kube-scheduler",
}


@dataclass(frozen=True, slots=True)
class Pki:
    """The certificates of a run."""

    folder: Path

    def certificate(self, name: str) -> Path:
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        return self.folder / f"{name}.key"

    @property
    def account_key(self) -> Path:
        """Signs the tokens of service accounts."""
        return self.folder / "service-accounts.key"

    @property
    def account_public(self) -> Path:
        return self.folder / "service-accounts.pub"

    def sign(self, name: str, subject: str, names: tuple[str, ...] = (), *, authority: str = AUTHORITY) -> None:
        """A key and a certificate for servers and clients. Shape: `names` as openssl writes them: `DNS:x`, `IP:y`."""
        alternatives = ("-addext", f"subjectAltName={','.join(names)}") if names else ()
        _openssl(
            *("req", "-x509", *_EC_KEY, "-days", str(DAYS), "-subj", subject),
            *("-CA", str(self.certificate(authority)), "-CAkey", str(self.key(authority))),
            *("-keyout", str(self.key(name)), "-out", str(self.certificate(name))),
            *("-addext", "basicConstraints=critical,CA:FALSE", "-addext", "extendedKeyUsage=serverAuth,clientAuth"),
            *alternatives,
        )

    def bundle(self) -> str:
        """The authority's certificate, as `caBundle` takes it."""
        return _base64(self.certificate(AUTHORITY))


def make_pki(folder: Folder) -> Pki:
    """All certificates that the control plane needs, and the kubeconfigs of its users."""
    folder.pki.mkdir(mode=0o700, exist_ok=True)
    pki = Pki(folder.pki)
    for name in (AUTHORITY, FRONT_PROXY):
        _openssl(
            *("req", "-x509", *_EC_KEY, "-days", str(DAYS), "-subj", f"/CN={name}"),
            *("-keyout", str(pki.key(name)), "-out", str(pki.certificate(name))),
            *("-addext", "keyUsage=critical,keyCertSign,digitalSignature"),
        )
    serving = ("DNS:localhost", "DNS:kubernetes.default.svc", "IP:127.0.0.1", f"IP:{FIRST_SERVICE}")
    pki.sign("kube-apiserver", "/CN=kube-apiserver", serving)
    pki.sign("front-proxy-client", "/CN=front-proxy-client", authority=FRONT_PROXY)
    pki.sign("webhooks", "/CN=webhooks", ("DNS:localhost", "IP:127.0.0.1"))
    _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(pki.account_key))
    _openssl("pkey", "-in", str(pki.account_key), "-pubout", "-out", str(pki.account_public))
    for user, subject in USERS.items():
        pki.sign(user, subject)
        credentials = {
            "client-certificate-data": _base64(pki.certificate(user)),
            "client-key-data": _base64(pki.key(user)),
        }
        write_kubeconfig(folder.kubeconfig(user), pki, user, credentials)
    return pki


def write_kubeconfig(file: Path, pki: Pki, user: str, credentials: dict[str, Any]) -> None:
    """A kubeconfig, in JSON, which is YAML too. Shape: `credentials` are the `user` entry's fields."""
    cluster = {"server": API_SERVER, "certificate-authority-data": pki.bundle()}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "testbed", "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": user}}],
        "current-context": "testbed",
    }
    file.touch(mode=0o600)
    file.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


def _base64(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


def _openssl(*arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"openssl {arguments[0]} failed: {done.stderr.strip()}")
