"""Servers for the contract suite: each test runs against the in-memory one and against a real one.

The real one is the fixture `real_api_server` of tests/cluster, which skips with a line where there is none, and fails in CI.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.servers import FakeServer, RealServer, Server

SERVERS = ("fake", pytest.param("real", marks=pytest.mark.e2e))


def _real(request: pytest.FixtureRequest) -> RealServer:
    cluster: Any = request.getfixturevalue("real_api_server")
    return RealServer(cluster.kubeconfig, cluster.compact)


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> Server:
    """An API server."""
    return FakeServer() if request.param == "fake" else _real(request)


@pytest.fixture(params=SERVERS)
def kueue_server(request: pytest.FixtureRequest) -> Server:
    """An API server with Kueue."""
    return FakeServer(has_kueue=True) if request.param == "fake" else _real(request)
