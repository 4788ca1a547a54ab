"""pytest's way to the testbed: markers, tiers, and the fixtures `cluster`, `real_api_server` and `player`.

A test that needs the real control plane is marked `e2e`; one that also takes long, or breaks things, `faults`. On a machine
that cannot run the tier such tests are skipped with what is missing; in continuous integration they fail.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster, ready_binaries
from tests.cluster.errors import ClusterError, MissingError
from tests.cluster.machines import Machinery
from tests.cluster.needs import in_ci
from tests.cluster.player import NodePlayer

MARKERS = (
    "e2e: needs the real control plane of tests/cluster",
    "living: a whole worker against the API server in memory, on a virtual clock",
    "faults: a long run of faults against the real control plane; left out of `make test`",
)


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failed test says where the logs of its cluster are; they are kept."""
    outcome = yield
    report = outcome.get_result()
    cluster = item.session.stash.get(_CLUSTER, None)
    if report.failed and cluster is not None and "cluster" in getattr(item, "fixturenames", ()):
        item.session.stash[_HAS_FAILED] = True
        report.sections.append(("cluster", f"logs are kept in {cluster.folder.logs}\n{_ends_of_logs(cluster)}"))


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster for the whole session, with this process in its network, so that code under test reaches 127.0.0.1."""
    stay_out(why_not())
    made = Cluster.start()
    stash = request.session.stash
    stash[_CLUSTER] = made
    try:
        with made.entered():
            yield made
    finally:
        del stash[_CLUSTER]
        made.stop(keep_logs=stash.get(_HAS_FAILED, False))


@pytest.fixture(scope="session")
def real_api_server(cluster: Cluster) -> Cluster:
    """The real side of the contract suite: `kubeconfig`, `api`, `restart`, `pause`, `compact`."""
    return cluster


@pytest.fixture(scope="session")
def machinery() -> Machinery:
    """Machine files to objects."""
    return Machinery()


@pytest.fixture
def player(cluster: Cluster) -> Iterator[NodePlayer]:
    """A node player for one test; the nodes it still plays at the end are taken out."""
    with NodePlayer(cluster.api) as made:
        yield made
        for name in made.names:
            made.remove(name)


def stay_out(reason: str) -> None:
    """Skips for a reason, when there is one; fails for it in continuous integration."""
    if reason and in_ci():
        pytest.fail(reason, pytrace=False)
    if reason:
        pytest.skip(reason)


def why_not() -> str:
    """Why the tier cannot run here; empty when it can."""
    try:
        ready_binaries()
    except MissingError as error:
        return str(error)
    return ""


_CLUSTER: pytest.StashKey[Cluster] = pytest.StashKey()
_HAS_FAILED: pytest.StashKey[bool] = pytest.StashKey()


def _ends_of_logs(cluster: Cluster) -> str:
    try:
        processes = cluster.world.processes()
    except ClusterError as error:  # a report about a failed test must not fail itself
        return f"its processes cannot be listed: {error}"
    return "\n\n".join(f"--- {each['name']} ({each['state']})\n{cluster.log(each['name'], 15)}" for each in processes)
