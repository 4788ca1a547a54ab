"""Certificates for tests that serve, made with openssl. No assertions here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def make(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    certificate, key = folder / "tls.crt", folder / "tls.key"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "2",
            ),
            *("-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key
