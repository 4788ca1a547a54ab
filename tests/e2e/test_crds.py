"""Our kinds as a real API server has them: what it takes and refuses, in which words, and what `kubectl` shows."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from engine.api.crd import KINDS, crd_documents
from engine.chain.chain import Chain
from engine.worker.render import tables
from tests.cluster.api import ApiError
from tests.cluster.cluster import Cluster
from tests.golden.objects import read
from tests.unit.api.cases import ACCEPTED, ALLOWED, LEGACY_FIELDS, OLD_TYPE, REFUSED, Object, Refused
from tests.unit.chain.shipped import cluster as walkthrough
from tests.unit.chain.shipped import program

pytestmark = pytest.mark.e2e

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CELLS = ("unitStorage", "accelerator", "cpu")
BY_KIND = {kind.kind: kind for kind in KINDS}


@pytest.fixture(scope="module")
def served(cluster: Cluster) -> Cluster:
    """A cluster that serves our kinds; they stay, as a worker would leave them."""
    for document in crd_documents():
        cluster.api.apply(f"{CRDS}/{document['metadata']['name']}", document, manager="test-crds")
    for kind in KINDS:
        for version in kind.versions:
            cluster.wait_served(f"{kind.group}/{version}", kind.plural)
    return cluster


def path(thing: Object, version: str = "", *, is_list: bool = False) -> str:
    """Where an object is; in the version that clients prefer, unless another is given."""
    kind = BY_KIND[thing["kind"]]
    namespace = f"/namespaces/{thing['metadata'].get('namespace', 'default')}" if kind.is_namespaced else ""
    name = "" if is_list else f"/{thing['metadata']['name']}"
    return f"/apis/{kind.group}/{version or kind.versions[-1]}{namespace}/{kind.plural}{name}"


def create(cluster: Cluster, thing: Object) -> Object:
    """The object with its status. Nothing is left of one whose status is refused."""
    live = cluster.api.post(path(thing, is_list=True), copy.deepcopy(thing))
    if "status" not in thing or not BY_KIND[thing["kind"]].has_status:
        return live
    try:
        return cluster.api.put(f"{path(thing)}/status", live | {"status": thing["status"]})
    except ApiError:
        cluster.api.delete(path(thing))
        raise


def lost(wanted: Any, found: Any, where: str = "") -> list[str]:
    """Fields of one that the other has not, or has otherwise."""
    if isinstance(wanted, dict):
        return [each for key in wanted for each in lost(wanted[key], (found or {}).get(key), f"{where}.{key}")]
    if isinstance(wanted, list):
        pairs = zip(wanted, found or [None] * len(wanted), strict=True)
        return [each for at, (one, other) in enumerate(pairs) for each in lost(one, other, f"{where}[{at}]")]
    return [] if wanted == found else [where]


def named(thing: Object) -> str:
    return f"{thing['kind']}-{thing['metadata']['name']}"


@pytest.mark.parametrize("thing", ACCEPTED, ids=named)
def test_what_is_taken_in_the_newest_version_reads_back_whole_in_the_oldest(served: Cluster, thing: Object) -> None:
    kind = BY_KIND[thing["kind"]]
    try:
        create(served, thing)
        live = served.api.get(path(thing, kind.versions[0]))
    finally:
        served.api.delete(path(thing))
    assert live["apiVersion"] == f"{kind.group}/{kind.versions[0]}"
    wanted = {part: copy.deepcopy(thing[part]) for part in ("spec", "status") if part in thing}
    if thing is OLD_TYPE:
        assert wanted["spec"].keys() - live["spec"].keys() == {*LEGACY_FIELDS}, "dropped, as the page on the API says"
        wanted["spec"] = {key: value for key, value in wanted["spec"].items() if key not in LEGACY_FIELDS}
    assert lost(wanted, live) == []


@pytest.mark.parametrize(("old", "new"), ALLOWED, ids=named)
def test_a_change_that_may_be_made_is_taken(served: Cluster, old: Object, new: Object) -> None:
    live = create(served, old)
    try:
        taken = served.api.put(path(new), copy.deepcopy(new) | {"metadata": live["metadata"]})
        assert lost(new["spec"], taken["spec"]) == []
    finally:
        served.api.delete(path(old))


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_cannot_be_is_refused_with_the_field_named(served: Cluster, case: Refused) -> None:
    if case.old is None:
        with pytest.raises(ApiError) as refusal:
            create(served, case.new)
    else:
        live = create(served, case.old)
        try:
            with pytest.raises(ApiError) as refusal:
                served.api.put(path(case.new), copy.deepcopy(case.new) | {"metadata": live["metadata"]})
        finally:
            served.api.delete(path(case.old))
    assert refusal.value.status == 422
    told = str(refusal.value)
    assert f" {case.field}: " in told or f"[{case.field}: " in told
    assert case.says in told


def test_kubectl_prints_the_tables_that_are_planned_offline(served: Cluster) -> None:
    chain = Chain(program())
    chain.apply(walkthrough())
    offline = {
        "instancetypeflavors": tables.instance_type_flavors(chain.catalogue()),
        "instancetypes": tables.instance_types(chain.types()),
    }
    cells = {name: dict(zip(CELLS, more, strict=False)) for name, _, *more in offline["instancetypes"].rows}
    made = [*read("instancetypeflavors.yaml"), *read("instancetypes.yaml")]
    for each in made[3:]:
        each["status"]["columns"] = cells[each["metadata"]["name"]]
    try:
        for each in made:
            create(served, each)
        printed = {plural: served.kubectl("get", plural).splitlines() for plural in offline}
    finally:
        for each in made:
            served.api.delete(path(each))
    for plural, table in offline.items():
        starts = [found.start() for found in re.finditer(r"\S+", printed[plural][0])]
        rows = [
            tuple(line[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True))
            for line in printed[plural]
        ]
        assert rows == [table.columns, *table.rows]


def test_kubectl_explains_a_field_in_a_sentence(served: Cluster) -> None:
    told = " ".join(served.kubectl("explain", "instancetype.spec.unitResources").split())
    assert "VERSION: v1 FIELD: unitResources <Object>" in told
    assert "What comes with each accelerator or core. Required, immutable." in told
    assert "ram <string> Memory in whole Gi, such as 64Gi. Required." in told
