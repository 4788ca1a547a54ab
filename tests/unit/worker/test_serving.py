"""Probes and metrics over real sockets: what is asked without and with TLS, and what is refused."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from engine.errors import UsageError
from engine.worker.health import Health
from engine.worker.inforce import InForce
from engine.worker.log import Log
from engine.worker.metrics import Metrics, Sources
from engine.worker.options import LOOPBACK, Serving
from engine.worker.serving import Served
from tests.behaviour.running import run as run_command
from tests.unit.features.world import program
from tests.unit.worker.certificates import make

PLAIN = Serving(0, LOOPBACK)


class Asked:
    """A listener, and whoever asks it."""

    def __init__(self, serving: Serving | None) -> None:
        self.lines: list[str] = []
        self.health = Health(list)
        self.health.is_prepared = True
        self.metrics = Metrics(Sources(InForce(program(), {}), works=list, informers=list))
        self.served = Served(serving, self.health, self.metrics, Log(self.lines.append, "json"))
        self.scheme = "http" if serving is None or serving.certificate is None else "https"

    async def ask(self, path: str, method: str = "GET", **given: Any) -> tuple[int, str, aiohttp.ClientResponse]:
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, f"{self.scheme}://{LOOPBACK}:{self.served.port}{path}", **given) as response,
        ):
            return response.status, await response.text(), response

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(each) for each in self.lines]


def served(test: Callable[[Asked], Awaitable[None]], serving: Serving | None = PLAIN) -> Asked:
    """Runs a listener and a test beside it."""
    asked = Asked(serving)

    async def main() -> None:
        task = asyncio.create_task(asked.served.run())
        async with asyncio.timeout(20):
            started = asyncio.create_task(asked.served.started.wait())
            await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED)
            started.cancel()
            if task.done():
                await task
            await test(asked)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(main())
    return asked


def test_probes_say_ok_and_the_checks_when_asked_for_them() -> None:
    async def test(asked: Asked) -> None:
        assert (await asked.ask("/livez"))[:2] == (200, "ok")
        assert (await asked.ask("/readyz"))[:2] == (200, "ok")
        status, text, _ = await asked.ask("/readyz?verbose")
        assert (status, text) == (200, "[+]event-loop ok\n[+]lease ok\n[+]prepared ok\nreadyz check passed\n")

    served(test)


def test_a_probe_that_fails_names_what_is_waited_for_without_being_asked() -> None:
    async def test(asked: Asked) -> None:
        asked.health.is_prepared = False
        status, text, _ = await asked.ask("/readyz")
        assert status == 503
        assert "[-]prepared failed: definitions and settings are not all there yet\nreadyz check failed\n" in text
        assert (await asked.ask("/livez"))[:2] == (200, "ok"), "a restart would not mend it"

    served(test)


def test_metrics_are_text_that_a_scraper_parses_in_both_of_its_forms() -> None:
    async def test(asked: Asked) -> None:
        status, text, response = await asked.ask("/metrics")
        assert status == 200
        assert response.headers["Content-Type"].startswith("text/plain; version=")
        names = {family.name for family in text_string_to_metric_families(text)}
        assert {
            "engine_build_info",
            "engine_rules_info",
            "process_resident_memory_bytes",
            "python_gc_collections",
        } <= names
        accept = {"Accept": "application/openmetrics-text; version=1.0.0"}
        _, text, response = await asked.ask("/metrics", headers=accept)
        assert response.headers["Content-Type"].startswith("application/openmetrics-text")
        assert text.endswith("# EOF\n")

    served(test)


def test_other_paths_and_methods_are_refused_and_nothing_can_be_written() -> None:
    async def test(asked: Asked) -> None:
        assert (await asked.ask("/"))[0] == 404
        assert (await asked.ask("/livez/"))[0] == 404
        status, _, response = await asked.ask("/metrics", "POST", data=b"x" * 500_000)
        assert (status, response.headers["Allow"]) == (405, "GET, HEAD")
        status, text, response = await asked.ask("/readyz", "HEAD")
        assert (status, text) == (200, "")
        assert response.headers["Server"] == "engine", "no version for strangers"

    served(test)


def test_a_check_that_breaks_is_an_answer_and_a_line_and_the_listener_goes_on() -> None:
    async def test(asked: Asked) -> None:
        def broken() -> list[Any]:
            raise RuntimeError("no such thing")

        asked.health.ready = broken  # type: ignore[method-assign]
        assert (await asked.ask("/readyz"))[0] == 500
        assert (await asked.ask("/livez"))[0] == 200

    told = served(test).told()[-1]
    assert (told["event"], told["level"], told["path"], told["type"]) == (
        "cannot answer",
        "error",
        "/readyz",
        "RuntimeError",
    )


def test_garbage_of_a_stranger_is_no_line_of_ours() -> None:
    async def test(asked: Asked) -> None:
        reader, writer = await asyncio.open_connection(LOOPBACK, asked.served.port)
        writer.write(b"\x16\x03\x01 no request\r\n\r\n")
        await writer.drain()
        assert b" 400 " in await reader.readline()
        writer.close()
        assert (await asked.ask("/livez"))[0] == 200

    lines = served(test).told()
    assert [each["event"] for each in lines] == ["serves without TLS, to this machine alone", "serves"]


def test_a_certificate_that_changed_is_served_from_the_next_connection_on(tmp_path: Path) -> None:
    certificate, key = make(tmp_path, "first")
    first = certificate.read_text("ascii")

    async def test(asked: Asked) -> None:
        assert (await asked.ask("/livez", ssl=trusting(first)))[0] == 200
        make(tmp_path, "second")
        second = certificate.read_text("ascii")
        assert (await asked.ask("/livez", ssl=trusting(second)))[0] == 200
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await asked.ask("/livez", ssl=trusting(first))

    lines = served(test, Serving(0, LOOPBACK, certificate, key)).told()
    assert [each["event"] for each in lines] == ["serves", "the certificate was read again"]
    assert lines[0]["scheme"] == "https"


def test_half_of_a_new_certificate_leaves_the_one_before_and_is_told_once(tmp_path: Path) -> None:
    certificate, key = make(tmp_path, "first")
    before = certificate.read_text("ascii")

    async def test(asked: Asked) -> None:
        (tmp_path / "other").mkdir()
        other, other_key = make(tmp_path / "other", "second")
        certificate.write_bytes(other.read_bytes())
        for _ in range(3):
            assert (await asked.ask("/livez", ssl=trusting(before)))[0] == 200
        key.write_bytes(other_key.read_bytes())
        assert (await asked.ask("/livez", ssl=trusting(other.read_text("ascii"))))[0] == 200
        certificate.unlink()
        assert (await asked.ask("/livez", ssl=trusting(other.read_text("ascii"))))[0] == 200

    events = [each["event"] for each in served(test, Serving(0, LOOPBACK, certificate, key)).told()]
    kept = "the certificate was not read again: the one before is served with"
    assert events == ["serves", kept, "the certificate was read again", kept]


def test_a_client_without_a_server_name_and_one_below_tls_1_2(tmp_path: Path) -> None:
    certificate, key = make(tmp_path, "first")

    async def test(asked: Asked) -> None:
        assert (await asked.ask("/livez", ssl=False))[0] == 200, "as a kubelet asks: by address, verifying nothing"
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with pytest.raises(aiohttp.ClientError):
            await asked.ask("/livez", ssl=old)

    served(test, Serving(0, LOOPBACK, certificate, key))


def test_with_a_certificate_all_addresses_are_served(tmp_path: Path) -> None:
    certificate, key = make(tmp_path, "first")

    async def test(asked: Asked) -> None:
        assert (await asked.ask("/livez", ssl=False))[0] == 200

    served(test, Serving(0, "", certificate, key))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"host": ""}, "without TLS (all addresses)"),
        ({"host": "0.0.0.0"}, "without TLS (0.0.0.0)"),
        ({"host": "localhost"}, "localhost is no address"),
        ({"certificate": Path("x"), "host": "0.0.0.0"}, "only x was given"),
        ({"key": Path("y"), "host": LOOPBACK}, "only y was given"),
    ],
)
def test_what_would_serve_others_without_tls_or_cannot_be_served_is_bad_usage(given: Any, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        Serving(**given)
    assert why in str(caught.value)


def test_a_certificate_that_is_none_and_a_port_that_is_taken_are_bad_usage(tmp_path: Path) -> None:
    (tmp_path / "tls.crt").write_text("no certificate", "ascii")
    missing = Serving(0, LOOPBACK, tmp_path / "tls.crt", tmp_path / "tls.key")
    with pytest.raises(UsageError, match="cannot be served with"):
        served(_nothing, missing)
    (tmp_path / "tls.key").write_text("no key", "ascii")
    with pytest.raises(UsageError, match="without a password"):
        served(_nothing, missing)
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} cannot be served"):
            served(_nothing, Serving(port, LOOPBACK))


async def _nothing(_asked: Asked) -> None:
    pass


def trusting(certificate: str) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=certificate)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((), "over http on 127.0.0.1, port 31443"),
        (("--secure-port", "0"), "serves nothing"),
        (("--bind-address", "::1"), "over http on ::1, port 31443"),
        (("--tls-cert-file", "c", "--tls-private-key-file", "k"), "over https on all addresses, port 31443"),
    ],
)
def test_a_check_says_what_would_be_served(given: tuple[str, ...], says: str) -> None:
    told = run_command("worker", "--check", *given)
    assert told.exit_code == 0
    assert says in told.stdout


def test_serving_other_machines_without_a_certificate_ends_the_command() -> None:
    told = run_command("worker", "--check", "--bind-address", "0.0.0.0")
    assert told.exit_code == 2
    assert "nothing is served to other machines without TLS" in told.stderr
