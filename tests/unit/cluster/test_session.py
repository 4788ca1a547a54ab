"""Connections: in-cluster, kubeconfig with certificates, tokens and exec plugins, over a real socket."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from engine.cluster.client import Client
from engine.cluster.clock import SystemClock
from engine.cluster.credentials import FixedCredentials, TokenFile
from engine.cluster.errors import ClusterError, SettingsError, Unauthorized, Unreachable
from engine.cluster.http import HttpTransport
from engine.cluster.informer import Informer
from engine.cluster.resources import CONFIG_MAPS, NODES
from engine.cluster.retry import ONCE
from engine.cluster.session import Connection, connection, from_kubeconfig, in_cluster
from tests.fakes.apiserver import ApiServer
from tests.fakes.http_server import served
from tests.unit.cluster.conftest import Pki
from tests.unit.cluster.worlds import node, running


def _kubeconfig(path: Path, server: str, *, user: dict[str, Any] | None = None, **cluster: Any) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "team"}}],
        "clusters": [{"name": "k", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": user or {}}],
    }
    path.write_text(json.dumps(config))
    return path


def _inline(path: str) -> str:
    return base64.b64encode(Path(path).read_bytes()).decode()


def _server_context(pki: Pki, *, wants_certificate: bool) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=pki.file("ca.crt"))
    context.load_cert_chain(pki.file("server.crt"), pki.file("server.key"))
    if wants_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _bearer(token: str) -> Callable[[web.Request], bool]:
    return lambda request: request.headers.get("Authorization") == f"Bearer {token}"


async def _nodes(found: Connection) -> list[str]:
    async with HttpTransport(found, user_agent="engine-test") as transport:
        listing = await Client(transport, policy=ONCE).list(NODES, limit=2)
        return [thing.metadata.name for thing in listing.items]


def _server() -> ApiServer:
    server = ApiServer(SystemClock())
    server.store.load("nodes", [node(name) for name in "abc"])
    return server


def test_a_kubeconfig_with_client_certificates_reaches_a_server_that_wants_them(tmp_path: Path, pki: Pki) -> None:
    async def main() -> None:
        async with served(_server(), context=_server_context(pki, wants_certificate=True)) as url:
            user = {
                "client-certificate-data": _inline(pki.file("client.crt")),
                "client-key-data": _inline(pki.file("client.key")),
            }
            ca = {"certificate-authority-data": _inline(pki.file("ca.crt"))}
            path = _kubeconfig(tmp_path / "config", url, user=user, **ca)
            found = await from_kubeconfig(path)
            assert found.namespace == "team"
            assert await _nodes(found) == ["a", "b", "c"]
            stranger = await from_kubeconfig(_kubeconfig(tmp_path / "none", url, **ca))
            with pytest.raises(Unreachable):
                await _nodes(stranger)

    asyncio.run(main())


def test_a_server_whose_certificate_is_not_known_is_not_talked_to(tmp_path: Path, pki: Pki) -> None:
    async def main() -> None:
        async with served(_server(), context=_server_context(pki, wants_certificate=False)) as url:
            path = _kubeconfig(tmp_path / "config", url)
            with pytest.raises(Unreachable, match="certificate"):
                await _nodes(await from_kubeconfig(path))
            ca = {"certificate-authority": pki.file("ca.crt")}
            other_name = _kubeconfig(tmp_path / "other", url, **ca, **{"tls-server-name": "elsewhere.example"})
            with pytest.raises(Unreachable, match="elsewhere"):
                await _nodes(await from_kubeconfig(other_name))

    asyncio.run(main())


def test_a_token_and_a_password_are_sent(tmp_path: Path) -> None:
    async def main() -> None:
        async with served(_server(), is_known=_bearer("secret")) as url:
            found = await from_kubeconfig(_kubeconfig(tmp_path / "a", url, user={"token": "secret"}))
            assert await _nodes(found) == ["a", "b", "c"]
            wrong = await from_kubeconfig(_kubeconfig(tmp_path / "b", url, user={"token": "other"}))
            with pytest.raises(Unauthorized):
                await _nodes(wrong)
        basic = "Basic " + base64.b64encode(b"me:word").decode()
        async with served(_server(), is_known=lambda request: request.headers.get("Authorization") == basic) as url:
            user = {"username": "me", "password": "word"}
            assert await _nodes(await from_kubeconfig(_kubeconfig(tmp_path / "c", url, user=user)))

    asyncio.run(main())


def test_an_exec_plugin_is_run_again_after_a_401(tmp_path: Path) -> None:
    async def main() -> None:
        counter = tmp_path / "counter"
        counter.write_text("0")
        script = tmp_path / "plugin.py"
        script.write_text(
            "import json, pathlib\n"
            f"path = pathlib.Path({str(counter)!r})\n"
            "number = int(path.read_text()) + 1\n"
            "path.write_text(str(number))\n"
            "status = {'token': f'token-{number}', 'expirationTimestamp': '2999-01-01T00:00:00Z'}\n"
            "print(json.dumps({'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential',"
            " 'status': status}))\n"
        )
        plugin = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(script)],
            "interactiveMode": "Never",
        }
        known = {"token": "token-1"}
        async with served(
            _server(), is_known=lambda request: request.headers.get("Authorization") == f"Bearer {known['token']}"
        ) as url:
            found = await from_kubeconfig(_kubeconfig(tmp_path / "config", url, user={"exec": plugin}))
            assert await _nodes(found)
            assert await _nodes(found)
            assert counter.read_text() == "1", "an answer that has not expired is used again"
            known["token"] = "token-2"
            with pytest.raises(Unauthorized):
                await _nodes(found)
            assert await _nodes(found) == ["a", "b", "c"]

    asyncio.run(main())


def test_an_exec_plugin_that_gives_nothing_is_said_to_give_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/false", "interactiveMode": "Never"}
        found = await from_kubeconfig(_kubeconfig(tmp_path / "c", "http://127.0.0.1:1", user={"exec": plugin}))
        with pytest.raises(SettingsError, match="exec plugin"):
            await _nodes(found)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("server", "cluster", "says"),
    [
        ("https://10.0.0.1", {"insecure-skip-tls-verify": True}, "verification off"),
        ("http://10.0.0.1:8080", {}, "not reached over TLS"),
        ("https://10.0.0.1", {"proxy-url": "http://proxy:3128"}, "proxy"),
        ("https://10.0.0.1", {"certificate-authority-data": "bm90IGEgY2VydGlmaWNhdGU="}, "certificates cannot be read"),
    ],
    ids=["unverified", "plain", "proxy", "bad ca"],
)
def test_a_kubeconfig_that_is_not_safe_is_refused(
    tmp_path: Path, server: str, cluster: dict[str, Any], says: str
) -> None:
    path = _kubeconfig(tmp_path / "config", server, **cluster)
    with pytest.raises(SettingsError, match=says):
        asyncio.run(from_kubeconfig(path))


@pytest.mark.parametrize("text", ["", "{", "kind: Config", "- a"], ids=["empty", "broken", "no context", "list"])
def test_a_kubeconfig_that_is_none_is_an_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(SettingsError, match="config"):
        asyncio.run(from_kubeconfig(path))


def test_a_missing_kubeconfig_is_an_error_that_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    with pytest.raises(SettingsError, match="nowhere"):
        asyncio.run(connection())


def _account(folder: Path, pki: Pki) -> None:
    (folder / "token").write_text("first\n")
    (folder / "namespace").write_text("gpustack-system")
    (folder / "ca.crt").write_bytes(Path(pki.file("ca.crt")).read_bytes())


def test_a_pod_uses_its_service_account_and_reads_a_rotated_token(
    tmp_path: Path, pki: Pki, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        _account(tmp_path, pki)
        known = {"token": "first"}
        context = _server_context(pki, wants_certificate=False)
        async with served(
            _server(),
            context=context,
            is_known=lambda request: request.headers.get("Authorization") == f"Bearer {known['token']}",
        ) as url:
            port = url.rsplit(":", 1)[-1]
            environ = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": port}
            found = in_cluster(environ, tmp_path)
            assert found.namespace == "gpustack-system"
            assert await _nodes(found) == ["a", "b", "c"]
            known["token"] = "second"
            (tmp_path / "token").write_text("second")
            with pytest.raises(Unauthorized):
                await _nodes(found)
            assert await _nodes(found) == ["a", "b", "c"], "a 401 is reason enough to read the file again"

    asyncio.run(main())


def test_a_token_is_read_again_every_minute(tmp_path: Path) -> None:
    class Hand(SystemClock):
        seconds = 0.0

        def monotonic(self) -> float:
            return self.seconds

    async def main() -> None:
        clock, path = Hand(), tmp_path / "token"
        path.write_text("first")
        credentials = TokenFile(path, clock)
        assert await credentials.authorization() == "Bearer first"
        path.write_text("second")
        clock.seconds = 59
        assert await credentials.authorization() == "Bearer first"
        clock.seconds = 60
        assert await credentials.authorization() == "Bearer second"
        clock.seconds = 120
        path.write_text("")
        with pytest.raises(SettingsError, match="empty"):
            await credentials.authorization()
        path.unlink()
        with pytest.raises(SettingsError, match="mount the token"):
            await credentials.authorization()

    asyncio.run(main())


def test_outside_a_cluster_there_is_no_service_account(tmp_path: Path, pki: Pki) -> None:
    with pytest.raises(SettingsError, match="not in a cluster"):
        in_cluster({}, tmp_path)
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    with pytest.raises(SettingsError, match="certificates cannot be read"):
        in_cluster(environ, tmp_path)
    _account(tmp_path, pki)
    assert in_cluster(environ, tmp_path).server == "https://[fd00::1]:443"


def test_in_cluster_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, engine.cluster.http, engine.cluster.informer, engine.cluster.elector, engine.cluster.writers;"
        "bad = [n for n in ('kubernetes', 'pydantic', 'jsonschema', 'ruamel', 'requests') if n in sys.modules];"
        "sys.exit(bool(bad))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_socket_that_is_cut_is_unreachable_and_the_informer_goes_on() -> None:
    async def main() -> None:
        server = _server()
        async with served(server) as url:
            found = Connection(url, None, FixedCredentials())
            async with HttpTransport(found, user_agent="engine-test") as transport:
                client = Client(transport)
                informer = Informer(client, NODES)
                async with running(informer.run()):
                    await informer.wait_synced()
                    server.restart()
                    made = await client.create(NODES, node("d"), manager="t")
                    async with asyncio.timeout(10):
                        while informer.cache.get("d") != made:  # noqa: ASYNC110 - looked at from outside
                            await asyncio.sleep(0.05)
                assert informer.lists == 1
                server.faults.cut_next_body_at = 20
                server.faults.cuts_at_most = 9
                with pytest.raises(Unreachable):
                    await client.list(NODES)
            assert {seen.sender for seen in server.seen} == {"engine-test"}

    asyncio.run(main())


def test_nobody_there_is_unreachable_with_the_reason() -> None:
    async def main() -> None:
        async with HttpTransport(Connection("http://127.0.0.1:1", None, FixedCredentials())) as transport:
            with pytest.raises(ClusterError, match="no answer"):
                await Client(transport, policy=ONCE).get(CONFIG_MAPS, "a", "default")

    asyncio.run(main())
