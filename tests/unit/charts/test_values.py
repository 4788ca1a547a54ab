"""values.schema.json: every value is in it, and what is no value is refused with its name."""

from __future__ import annotations

import json

import pytest

from charts import build
from tests.unit.charts.chart import OWN, leaves, read

SCHEMA = json.loads((build.CHART / "values.schema.json").read_text("utf-8"))
VALUES = read((build.CHART / "values.yaml").read_text("utf-8"))

OF_ALL_TIMES = {
    "0.1.0": {
        "fullnameOverride": "gpustack-operator",
        "commonLabels": {"team": "ml"},
        "commonAnnotations": {"note": "x"},
        "global": {
            "imageRegistry": "registry.example:5000",
            "imageNamespace": "mirror",
            "imagePullPolicy": "Always",
            "imagePullSecrets": ["a", {"name": "b"}],
            "nodeSelector": {"zone": "a"},
            "manufacturers": {"nvidia": {"resourceName": "example.com/gpu", "pciVendorID": "0302_10de"}, "amd": None},
        },
        "image": {"repository": "x/y", "tag": "v1", "pullPolicy": "Never"},
        "worker": {
            "replicas": 3,
            "strategyType": "Recreate",
            "podDisruptionBudget": {"enabled": True, "minAvailable": "50%"},
            "serve": {"enabled": True, "certificateSecret": "theirs", "announce": False},
            "securePort": 31000,
            "logFormat": "text",
            "trustedNamespaces": ["nfd"],
            "resources": {"limits": {"cpu": "2"}},
            "nodeSelector": {"zone": "b"},
            "tolerations": [],
            "affinity": {"nodeAffinity": {}},
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
            "priorityClassName": "",
            "image": {"tag": "v2"},
            "extraArgs": ["--leader-elect"],
            "env": {"HTTPS_PROXY": "http://proxy"},
        },
        "settings": {"node-management-manual": "true"},
        "packs": {"acme": "a: 1\n"},
        "overlays": {"hall-7": "b: 2\n"},
        "serviceAccount": {"create": False, "name": "theirs", "annotations": {"a": "b"}},
        "rbac": {"create": False},
    },
}
"""All values that each released chart took; a chart takes those of every one before it."""


def _declared(path):
    node = SCHEMA
    for key in path:
        inner = node.get("properties", {}).get(key, node.get("additionalProperties"))
        if not isinstance(inner, dict):
            # A map of Kubernetes' own has no list of keys here.
            return node.get("type") == "object" and not node.get("properties")
        node = inner
    return True


@pytest.mark.parametrize("path", sorted(leaves(VALUES)), ids=".".join)
def test_every_value_of_the_chart_is_in_the_schema(path):
    assert _declared(path)


def test_every_value_in_the_schema_has_a_default():
    def undeclared(node, values, path=()):
        for key, inner in node.get("properties", {}).items():
            if key not in values:
                yield ".".join((*path, key))
            elif isinstance(values[key], dict) and values[key]:
                yield from undeclared(inner, values[key], (*path, key))

    assert list(undeclared(SCHEMA, VALUES)) == []


@pytest.mark.parametrize("values", OF_ALL_TIMES.values(), ids=OF_ALL_TIMES)
def test_values_of_a_chart_before_render_with_this_one(values, render):
    assert render(values).one("Deployment")


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"worker": {"replicsa": 2}}, "replicsa"),
        ({"worker": {"replicas": "2"}}, "replicas"),
        ({"global": {"manufacturers": {"ascend": {"pciVendorID": 19e5}}}}, "pciVendorID"),
        ({"global": {"manufacturers": {"nvidia": {"resourceName": "gpu"}}}}, "resourceName"),
        ({"packs": {"acme": {"kind": "Manufacturer"}}}, "packs"),
        ({"packs": {"Acme Works": "a: 1"}}, "Acme Works"),
        ({"settings": {"node-management-manual": True}}, "node-management-manual"),
        ({"worker": {"securePort": 443}}, "securePort"),
        ({"worker": {"serve": {"certificateSecret": "No Name"}}}, "certificateSecret"),
    ],
)
def test_what_is_no_value_is_refused_and_named(values, named, loaded, helm):
    with pytest.raises(helm.HelmError, match=named):
        loaded.render({**OWN, **values}, name="engine", namespace="gpustack-system")
