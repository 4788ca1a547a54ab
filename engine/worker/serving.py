"""`/livez`, `/readyz` and `/metrics` over HTTP: what a kubelet and a scraper ask.

What is answered is `health`'s and `metrics`'. Nobody is authenticated, because nothing here is secret and nothing can be
changed; without a certificate only this machine may ask.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import Callable, Iterable
from typing import Final

from aiohttp import web

from engine.errors import UsageError
from engine.worker.certificate import ServingCertificate
from engine.worker.health import Check, Health, passes, report
from engine.worker.log import Log
from engine.worker.metrics import Metrics
from engine.worker.options import Serving

KEEPALIVE_SECONDS: Final = 30.0
"""A kubelet asks every 5 to 10 s, a scraper every 15 to 60 s; an idle connection is not worth more."""
BACKLOG: Final = 64
_PLAIN: Final = "text/plain; charset=utf-8"
_HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Server": "engine"}
_NO_IPV6: Final = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


class Served:
    """One listener. With port 0 of `Serving` the system chooses one; `port` is the one that is served."""

    def __init__(self, serving: Serving | None, health: Health, metrics: Metrics, log: Log) -> None:
        self.port = 0
        self.started = asyncio.Event()
        self._serving = serving
        self._health = health
        self._metrics = metrics
        self._log = log

    async def run(self) -> None:
        """Until it is cancelled; without `Serving` nothing is served.

        Raises: UsageError: the port is taken, or the certificate cannot be used.
        """
        if self._serving is None:
            await asyncio.Event().wait()
            return
        context = self._context(self._serving)
        runner = web.ServerRunner(
            # A stranger's bad request is no event of ours; what fails in here is logged by `_answer`.
            web.Server(self._answer, access_log=None, logger=_SILENT, keepalive_timeout=KEEPALIVE_SECONDS),
            handle_signals=False,
            shutdown_timeout=1.0,
        )
        await runner.setup()
        try:
            listening = _listen(self._serving)
            self.port = listening.getsockname()[1]
            await web.SockSite(runner, listening, ssl_context=context, backlog=BACKLOG).start()
            self._log.info(
                "serves",
                address=self._serving.host or "all",
                port=self.port,
                scheme="http" if context is None else "https",
            )
            self.started.set()
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    def _context(self, serving: Serving) -> ssl.SSLContext | None:
        if serving.certificate is None or serving.key is None:
            self._log.warning(
                "serves without TLS, to this machine alone", remedy="give --tls-cert-file and --tls-private-key-file"
            )
            return None
        return ServingCertificate(serving.certificate, serving.key, self._tell).context

    def _tell(self, what: str, error: Exception | None) -> None:
        if error is None:
            self._log.info(what)
        else:
            self._log.warning(what, error=error)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await self._route(request)
        except Exception as error:  # noqa: BLE001 - one question's fault is not the listener's
            self._log.failure("cannot answer", path=request.path, error=error, type=type(error).__name__)
            return _text(500, "internal error\n")

    async def _route(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path not in ("/livez", "/readyz", "/metrics"):
            return _text(404, "there are /livez, /readyz and /metrics\n")
        if request.method not in ("GET", "HEAD"):
            return _text(405, "read it with GET\n", Allow="GET, HEAD")
        match request.path:
            case "/livez":
                return self._checked(request, self._health.live)
            case "/readyz":
                return self._checked(request, self._health.ready)
            case _:
                return await self._measured(request)

    def _checked(self, request: web.BaseRequest, look: Callable[[], Iterable[Check]]) -> web.Response:
        checks = tuple(look())
        is_fine = passes(checks)
        told = report(request.path.strip("/"), checks)
        return _text(200 if is_fine else 503, "ok" if is_fine and "verbose" not in request.query else told)

    async def _measured(self, request: web.BaseRequest) -> web.Response:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.sleep(0)
        self._metrics.loop_turn_seconds = loop.time() - began
        body, content_type = self._metrics.text(request.headers.get("Accept", ""))
        return web.Response(body=body, headers={**_HEADERS, "Content-Type": content_type})


def _text(status: int, text: str, **headers: str) -> web.Response:
    return web.Response(status=status, text=text, headers={**_HEADERS, "Content-Type": _PLAIN, **headers})


def _listen(serving: Serving) -> socket.socket:
    try:
        if serving.host:
            family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
            return socket.create_server((serving.host, serving.port), family=family, backlog=BACKLOG)
        return _listen_everywhere(serving.port)
    except OSError as error:
        raise UsageError(
            f"port {serving.port} cannot be served",
            where=serving.host or "all addresses",
            why=error.strerror or str(error),
            remedy="give another --secure-port, or 0 to serve nothing",
        ) from error


def _listen_everywhere(port: int) -> socket.socket:
    try:
        return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG)
    except OSError as error:
        if error.errno not in _NO_IPV6:
            raise
        return socket.create_server(("0.0.0.0", port), backlog=BACKLOG)  # noqa: S104 - asked for, and with TLS


_SILENT: Final = logging.Logger("engine.worker.serving", logging.CRITICAL + 1)  # noqa: LOG001 - nobody else may have it
