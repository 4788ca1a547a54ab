"""The CustomResourceDefinitions of our kinds, and of the two node feature kinds that a cluster may lack.

`engine schema --write schemas` writes them; the worker installs them. Installing is not done here.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from engine.api.devices import DEVICES
from engine.api.instance import INSTANCE
from engine.api.instance_type import INSTANCE_TYPE
from engine.api.instance_type_flavor import INSTANCE_TYPE_FLAVOR
from engine.api.kind import WORKER_GROUP, Column, Kind
from engine.api.node_feature import NODE_FEATURE, NODE_FEATURE_RULE
from engine.api.rule_pack import RULE_PACK
from engine.api.structural import structural_schema

Document = dict[str, Any]

KINDS: Final = (DEVICES, INSTANCE_TYPE, INSTANCE_TYPE_FLAVOR, INSTANCE, RULE_PACK, NODE_FEATURE, NODE_FEATURE_RULE)


def crd_documents(group: str = "") -> list[Document]:
    """CustomResourceDefinitions as JSON: of one group, or all."""
    return [crd(kind) for kind in KINDS if group in ("", kind.group)]


def worker_crds() -> list[Document]:
    """Those that are ours to align; of the others only the absence is repaired."""
    return crd_documents(WORKER_GROUP)


def crd_files() -> dict[str, Document]:
    """The documents by their file under `schemas/crd/`."""
    return {f"{kind.group}_{kind.plural}.yaml": crd(kind) for kind in KINDS}


@cache
def crd(kind: Kind) -> Document:
    """The CustomResourceDefinition of a kind.

    Shape: every version has the same schema, so nothing is ever converted. One document for all who ask: it is not changed.
    """
    names = {
        "categories": list(kind.categories),
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "shortNames": list(kind.short_names),
        "singular": kind.kind.lower(),
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.name},
        "spec": {
            "group": kind.group,
            "names": {key: value for key, value in names.items() if value},
            "scope": "Namespaced" if kind.is_namespaced else "Cluster",
            "versions": [_version(kind, version) for version in kind.versions],
        },
    }


def _version(kind: Kind, version: str) -> Document:
    made: Document = {"name": version, "served": True, "storage": version == kind.versions[0]}
    if kind.has_status:
        made["subresources"] = {"status": {}}
    if kind.columns:
        made["additionalPrinterColumns"] = [_column(column) for column in kind.columns]
    return {**made, "schema": {"openAPIV3Schema": structural_schema(kind.struct)}}


def _column(column: Column) -> Document:
    made: Document = {
        "name": column.name,
        "type": column.type,
        "jsonPath": column.path,
        "description": column.description,
    }
    return made | {"priority": 1} if column.is_wide else made
