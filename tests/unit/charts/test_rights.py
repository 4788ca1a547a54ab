"""What the worker may do, beside what its code does: no right is missing, and none is there for nobody.

Calls are found in the source: actions by their constructor, and everything that is listed, watched or read by its resource.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from charts import build
from engine.cluster import resources
from engine.cluster.resources import Resource
from engine.worker.controllers.kueueconfig import CONFIG
from engine.worker.options import LEASE
from tests.unit.charts.chart import read

ENGINE = build.REPOSITORY / "engine"
PARTS = ("delivery", "features", "worker")
"""What runs in the worker's process and speaks of objects."""

TABLE = read((build.CHART / "files" / "rbac.yaml").read_text("utf-8"))

VERBS = {
    "Apply": ("create", "patch"),
    "Create": ("create",),
    "MergePatch": ("patch",),
    "Update": ("get", "update"),
    "Delete": ("delete",),
    "Informer": ("list", "watch"),
}
"""What the API server asks for each: an apply that finds nothing is a create, an update reads first."""

READS = {"get": ("get",), "get_map": ("get",), "pages": ("list",), "merge_patch": ("patch",), "create": ("create",)}
"""The client's methods, where they are called past the actions."""

WORKER: dict[str, set[str]] = {
    "nodes": {"get", "list", "watch", "patch"},
    "nodes/status": {"patch"},
    "namespaces": {"get", "list", "watch"},
    "pods": {"list", "watch"},
    "leases.coordination.k8s.io": {"get", "list", "watch", "create", "patch"},
    "events.events.k8s.io": {"create", "patch"},
    "secrets": {"get", "list", "watch", "create", "patch"},
    "configmaps": {"get", "list", "watch", "create", "patch", "delete"},
    "customresourcedefinitions.apiextensions.k8s.io": {"get", "list", "watch", "create", "patch"},
    "nodefeatures.nfd.k8s-sigs.io": {"get", "list", "watch", "create", "patch", "delete"},
    "nodefeaturerules.nfd.k8s-sigs.io": {"get", "list", "watch", "create", "patch", "delete"},
    "clusterqueues.kueue.x-k8s.io": {"get", "list", "watch", "create", "patch", "update", "delete"},
    "clusterqueues/status.kueue.x-k8s.io": {"patch"},
    "localqueues.kueue.x-k8s.io": {"get", "list", "watch", "create", "patch", "delete"},
    "resourceflavors.kueue.x-k8s.io": {"get", "list", "watch", "create", "patch", "delete"},
    "topologies.kueue.x-k8s.io": {"get", "list", "watch", "create", "patch", "delete"},
    "admissionchecks.kueue.x-k8s.io": {"get", "list", "watch", "create", "patch"},
    "admissionchecks/status.kueue.x-k8s.io": {"patch", "update"},
    "workloads.kueue.x-k8s.io": {"get", "list", "watch"},
    "workloads/status.kueue.x-k8s.io": {"patch", "update"},
    "devices.worker.gpustack.ai": {"get", "list", "watch", "patch", "delete"},
    "instancetypes.worker.gpustack.ai": {"get", "list", "watch", "create", "patch", "update", "delete"},
    "instancetypes/status.worker.gpustack.ai": {"patch", "update"},
    "instancetypeflavors.worker.gpustack.ai": {"get", "list", "watch", "create", "patch", "delete"},
    "rulepacks.worker.gpustack.ai": {"get", "list", "watch", "create", "patch", "delete"},
    "rulepacks/status.worker.gpustack.ai": {"patch", "update"},
    "instances.worker.gpustack.ai": {"list"},
}
"""What the worker's controllers call, as the API server names it."""

NEVER_IN_A_CLUSTER = {("namespaces", "create")}
"""A worker outside makes its namespace; a Pod's is there."""


def _rules(part: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for rule in TABLE[part]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                yield group, resource, rule


def _granted() -> dict[str, set[str]]:
    granted: dict[str, set[str]] = {}
    for part in ("cluster", "namespace"):
        for group, resource, rule in _rules(part):
            granted.setdefault(f"{resource}.{group}" if group else resource, set()).update(rule["verbs"])
    return granted


def _calls() -> Iterator[tuple[str, str, str]]:
    """Resource, verb and where, of every call in the worker's process."""
    for file in sorted(file for part in PARTS for file in (ENGINE / part).rglob("*.py")):
        module = importlib.import_module(".".join(file.relative_to(build.REPOSITORY).with_suffix("").parts))
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                yield from _of_call(node, module, file)


def _of_call(node: ast.Call, module: Any, file: Path) -> Iterator[tuple[str, str, str]]:
    by_name = isinstance(node.func, ast.Name)
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    found = [each for each in (_resource(argument, module) for argument in node.args) if each is not None]
    subresource = next((each.value.value for each in node.keywords if _is_subresource(each)), "")
    for verb in (VERBS if by_name else READS).get(name, ()):
        for resource in found[:1]:
            plural = f"{resource.plural}/{subresource}" if subresource else resource.plural
            # an object with a status is read and created as a whole, its status is only written
            if subresource and verb in ("get", "create"):
                continue
            yield f"{plural}.{resource.group}" if resource.group else plural, verb, f"{file.name}:{node.lineno}"


def _is_subresource(keyword: ast.keyword) -> bool:
    return keyword.arg == "subresource" and isinstance(keyword.value, ast.Constant) and bool(keyword.value.value)


def _resource(argument: ast.expr, module: Any) -> Resource[Any] | None:
    value = getattr(module, argument.id, None) if isinstance(argument, ast.Name) else None
    return value if isinstance(value, Resource) else None


def test_the_roles_are_what_the_controllers_call_and_no_more():
    assert _granted() == WORKER


def test_every_call_in_the_code_is_allowed():
    calls = [each for each in _calls() if each[:2] not in NEVER_IN_A_CLUSTER]
    assert len(calls) >= 10, "calls are no longer found in the source"
    missing = [each for each in calls if each[1] not in WORKER.get(each[0], set())]
    assert missing == [], "add a rule to charts/engine/files/rbac.yaml, with its reason"


def test_the_client_speaks_of_no_kind_that_the_table_does_not_know():
    known = {each.plural for each in resources.RESOURCES}
    named = {resource.partition("/")[0] for part in TABLE for _, resource, _ in _rules(part)}
    assert named <= known


@pytest.mark.parametrize("part", ["cluster", "namespace", "kueue"])
def test_no_rule_has_a_wildcard_and_every_rule_has_a_reason(part):
    for rule in TABLE[part]:
        assert rule["why"]
        assert set(rule) <= {"why", "apiGroups", "resources", "resourceNames", "verbs"}
        assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]


def test_no_right_leads_to_other_rights():
    forbidden = {"escalate", "bind", "impersonate", "deletecollection"}
    everything = [*TABLE["cluster"], *TABLE["namespace"]]
    assert not any(forbidden & set(rule["verbs"]) for rule in everything)
    groups = {group for rule in everything for group in rule["apiGroups"]}
    assert "rbac.authorization.k8s.io" not in groups
    assert not {"secrets", "configmaps"} & {resource for _, resource, _ in _rules("cluster")}


@pytest.mark.parametrize("resource", ["secrets", "leases", "customresourcedefinitions"])
def test_what_can_be_named_is_named(resource):
    for part in TABLE:
        for _, each, rule in _rules(part):
            unnamed = set(rule["verbs"]) & {"patch", "update", "delete"} if not rule.get("resourceNames") else set()
            assert each != resource or not unnamed


def test_the_lease_of_the_role_is_the_one_that_is_taken():
    names = {
        name for _, each, rule in _rules("namespace") if each == "leases" for name in rule.get("resourceNames", ())
    }
    assert names == {LEASE}


def test_our_definitions_are_all_named():
    from engine.api.crd import worker_crds

    (named,) = [
        rule["resourceNames"]
        for _, each, rule in _rules("cluster")
        if each.startswith("custom") and "patch" in rule["verbs"]
    ]
    assert sorted(each["metadata"]["name"] for each in worker_crds()) == named


def test_the_rendered_roles_are_the_table_and_nothing_else(default):
    stripped = {
        part: [{key: value for key, value in rule.items() if key != "why"} for rule in TABLE[part]] for part in TABLE
    }
    assert default.one("ClusterRole")["rules"] == stripped["cluster"]
    assert default.one("Role")["rules"] == stripped["namespace"]
    account = {"kind": "ServiceAccount", "name": "gpustack-operator-worker", "namespace": "gpustack-system"}
    for kind in ("ClusterRoleBinding", "RoleBinding"):
        assert default.one(kind)["subjects"] == [account]
    assert default.pod["serviceAccountName"] == account["name"]


def test_a_kueue_elsewhere_is_read_by_one_name_and_nothing_else(render):
    rendered = render({"rbac": {"kueueNamespace": "kueue-system"}})
    (role,) = [each for each in rendered.of("Role") if each["metadata"]["namespace"] == "kueue-system"]
    assert role["rules"] == [{key: value for key, value in TABLE["kueue"][0].items() if key != "why"}]
    (binding,) = [each for each in rendered.of("RoleBinding") if each["metadata"]["namespace"] == "kueue-system"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert binding["subjects"][0]["namespace"] == "gpustack-system"
    rule = TABLE["kueue"][0]
    assert (rule["resourceNames"], rule["verbs"]) == ([CONFIG], ["get"])
