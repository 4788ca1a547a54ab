"""The in-memory API server behind a real socket, for tests with real processes."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator, Callable

from aiohttp import web

from engine.cluster.errors import Unreachable
from engine.cluster.transport import Request
from tests.fakes.apiserver import ApiServer


@contextlib.asynccontextmanager
async def served(
    server: ApiServer,
    *,
    host: str = "127.0.0.1",
    context: ssl.SSLContext | None = None,
    is_known: Callable[[web.Request], bool] = lambda _request: True,
) -> AsyncIterator[str]:
    """Serves until the block ends; gives the URL. The sender of a request is its User-Agent; a stranger gets 401."""

    async def handle(request: web.Request) -> web.StreamResponse:
        if not is_known(request):
            return web.json_response({"code": 401, "message": "Unauthorized", "reason": "Unauthorized"}, status=401)
        asked = Request(
            request.method,
            request.path,
            dict(request.query),
            {"Content-Type": request.headers.get("Content-Type", "")},
            await request.read() or None,
        )
        try:
            answer = await server.handle(asked, request.headers.get("User-Agent", ""), server.faults)
            response = web.StreamResponse(status=answer.status, headers=answer.headers)
            await response.prepare(request)
            async for piece in answer.chunks():
                await response.write(piece)
            await response.write_eof()
        except (Unreachable, ConnectionResetError):
            assert request.transport is not None
            request.transport.abort()
            return web.Response(status=500)
        return response

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, host, 0, ssl_context=context)
    await site.start()
    port: int = runner.addresses[0][1]
    try:
        yield f"{'http' if context is None else 'https'}://{host}:{port}"
    finally:
        server.restart()
        await runner.cleanup()
