"""Servers for the contract suite: each test runs against the in-memory one and against a real one.

The real one is the fixture `real_api_server` of tests/cluster, which skips with a line where there is none, and fails in CI.
"""

from __future__ import annotations

import pytest

from tests.contract.servers import FakeServer, RealServer, Server

SERVERS = ("fake", pytest.param("real", marks=pytest.mark.e2e))


def _real(request: pytest.FixtureRequest) -> RealServer:
    return RealServer(request.getfixturevalue("real_api_server"))


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> Server:
    """An API server."""
    return FakeServer() if request.param == "fake" else _real(request)


@pytest.fixture(params=["fake", pytest.param("real", marks=[pytest.mark.e2e, pytest.mark.faults])])
def breakable_server(request: pytest.FixtureRequest) -> Server:
    """An API server that a test breaks; of the real one only in the long run."""
    return FakeServer() if request.param == "fake" else _real(request)


@pytest.fixture(params=SERVERS)
def kueue_server(request: pytest.FixtureRequest) -> Server:
    """An API server with Kueue."""
    return FakeServer(has_kueue=True) if request.param == "fake" else _real(request)
