"""The certificate that the worker serves with, read again when its files change.

Makes none and verifies nobody. The files are looked at with each handshake, so that nothing runs in between.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

from engine.errors import UsageError

Stamp = tuple[tuple[int, int, int], ...]


class ServingCertificate:
    """Raises: UsageError: certificate and key are not there, cannot be read, or are not a pair."""

    def __init__(
        self, certificate: Path, key: Path, report: Callable[[str, Exception | None], None] = lambda _what, _error: None
    ) -> None:
        self._files = certificate, key
        self._report = report
        try:
            self._stamp = self._seen()
            self._current = self._loaded()
        except (OSError, ssl.SSLError) as error:
            raise UsageError(
                "the certificate cannot be served with",
                where=f"{certificate}, {key}",
                why=str(error),
                remedy="give a certificate and its key, both as PEM and without a password",
            ) from error
        self.context = self._loaded()
        self.context.sni_callback = self._choose

    def _choose(self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _context: ssl.SSLContext) -> None:
        """Called in each handshake, with or without a server name."""
        self._renew()
        connection.context = self._current

    def _renew(self) -> None:
        try:
            stamp = self._seen()
            if stamp == self._stamp:
                return
            # Whatever comes of it: the same files are not tried with every handshake.
            self._stamp = stamp
            self._current = self._loaded()
        except (OSError, ssl.SSLError) as error:
            self._report("the certificate was not read again: the one before is served with", error)
        else:
            self._report("the certificate was read again", None)

    def _seen(self) -> Stamp:
        found = [file.stat() for file in self._files]
        return tuple((each.st_mtime_ns, each.st_ino, each.st_size) for each in found)

    def _loaded(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        certificate, key = self._files
        # Without this a key with a password would be asked for on the terminal.
        context.load_cert_chain(certificate, key, password=lambda: "")
        return context
