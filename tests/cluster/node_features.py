"""The NodeFeature kinds as the testbed installs them when nothing else has: the schema that stock objects need, in our words.

Goes when the worker ships its own.
"""

from __future__ import annotations

from typing import Any, Final

GROUP: Final = "nfd.k8s-sigs.io"
VERSION: Final = "v1alpha1"

_TEXTS: Final = {"type": "object", "additionalProperties": {"type": "string"}}


def node_feature_crd() -> dict[str, Any]:
    """The CustomResourceDefinition of NodeFeature. Source: specification 50 §1.1."""
    flags = _by_name("elements", {"type": "object", "additionalProperties": {"type": "object"}})
    attributes = _by_name("elements", _TEXTS)
    instance = {"type": "object", "required": ["attributes"], "properties": {"attributes": _TEXTS}}
    instances = _by_name("elements", {"type": "array", "items": instance})
    spec = {
        "type": "object",
        "description": "What is asked for one node: labels, and raw features for rules to read.",
        "properties": {
            "labels": {**_TEXTS, "description": "Labels to set on the node."},
            "features": {
                "type": "object",
                "description": "Facts by name, such as `cpu.model` and `pci.device`.",
                "properties": {"flags": flags, "attributes": attributes, "instances": instances},
            },
        },
    }
    schema = {
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
        },
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"nodefeatures.{GROUP}",
            # names below k8s.io need a word about who approved them
            "annotations": {"api-approved.kubernetes.io": "unapproved, a test's copy of a published kind"},
        },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": "NodeFeature",
                "listKind": "NodeFeatureList",
                "plural": "nodefeatures",
                "singular": "nodefeature",
            },
            "versions": [{"name": VERSION, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def _by_name(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    entry = {"type": "object", "required": [key], "properties": {key: schema}}
    return {"type": "object", "additionalProperties": entry}
