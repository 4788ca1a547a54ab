"""The CustomResourceDefinitions: those committed are those the types give, and their schemas are structural."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from engine.api.crd import KINDS, crd_documents, crd_files, worker_crds
from engine.api.kind import Kind
from engine.worker.render import tables
from tests.unit.api.schemas import DOCUMENTS, SCHEMAS, nodes, rules

FOLDER = Path(__file__).parents[3] / "schemas" / "crd"
ALL_NODES = [(kind, path, node) for kind, schema in SCHEMAS.items() for path, node in nodes(schema)]
OURS = [kind for kind in KINDS if kind.group == "worker.gpustack.ai"]
KNOWN_KEYS = {
    "type", "description", "required", "properties", "items", "additionalProperties", "enum", "default", "format",
    "minimum", "maximum", "minLength", "maxLength", "maxItems", "pattern", "anyOf", "x-kubernetes-int-or-string",
    "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-validations",
}  # fmt: skip


def _ids(kind: Kind) -> str:
    return kind.kind


@pytest.mark.parametrize("file", crd_files())
def test_the_committed_definition_is_the_one_the_types_give(file: str) -> None:
    committed = YAML(typ="safe").load((FOLDER / file).read_text("utf-8"))
    assert committed == crd_files()[file], "write them anew: make schemas"


def test_no_definition_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(crd_files())


def test_ours_are_told_from_those_of_others() -> None:
    assert [each["spec"]["group"] for each in worker_crds()] == ["worker.gpustack.ai"] * 5
    assert len(crd_documents()) == 7
    assert len(crd_documents("nfd.k8s-sigs.io")) == 2


@pytest.mark.parametrize("kind", OURS, ids=_ids)
def test_v1alpha1_is_stored_and_v1_is_served_with_the_same_schema(kind: Kind) -> None:
    stored, served = DOCUMENTS[kind.kind]["spec"]["versions"]
    assert (stored["name"], stored["served"], stored["storage"]) == ("v1alpha1", True, True)
    assert (served["name"], served["served"], served["storage"]) == ("v1", True, False)
    for part in ("schema", "additionalPrinterColumns"):
        assert stored[part] == served[part]
    assert ("status" in SCHEMAS[kind.kind]["properties"]) is kind.has_status is ("subresources" in stored)
    assert DOCUMENTS[kind.kind]["spec"]["names"]["categories"] == ["gpustack"]


def test_scopes_and_short_names_are_those_people_know() -> None:
    named = {name: (doc["spec"]["scope"], doc["spec"]["names"].get("shortNames")) for name, doc in DOCUMENTS.items()}
    assert named == {
        "Devices": ("Cluster", None),
        "InstanceType": ("Cluster", ["instype"]),
        "InstanceTypeFlavor": ("Cluster", ["instypeflavor"]),
        "Instance": ("Namespaced", None),
        "RulePack": ("Cluster", None),
        "NodeFeature": ("Namespaced", None),
        "NodeFeatureRule": ("Cluster", ["nfr"]),
    }


def test_every_node_has_a_type_and_nothing_unknown() -> None:
    for kind, path, node in ALL_NODES:
        where = f"{kind} {path}"
        assert set(node) <= KNOWN_KEYS, where
        assert ("type" in node) is not ("x-kubernetes-int-or-string" in node), where
        assert ("items" in node) is (node.get("type") == "array"), where
        assert not ("properties" in node and "additionalProperties" in node), where
        assert set(node.get("required", ())) <= set(node.get("properties", ())), where


def test_every_field_is_described_in_one_line() -> None:
    for kind, schema in SCHEMAS.items():
        for path, node in nodes(schema):
            if path != "metadata" and not path.endswith(("[]", "{}")):
                assert re.fullmatch(r"[^\n]{3,160}\.", node["description"]), f"{kind} {path}"


def test_defaults_and_choices_are_values_of_their_type() -> None:
    found = []
    for kind, path, node in ALL_NODES:
        given = [*node.get("enum", ()), *([node["default"]] if "default" in node else ())]
        for value in given:
            jsonschema.validate(value, {key: part for key, part in node.items() if not key.startswith("x-")})
        if "default" in node:
            found.append((f"{kind} {path}", node["default"]))
    assert ("InstanceType spec.generalGroup", "generic") in found
    assert len(found) == 8


def test_keys_of_lists_are_fields_that_are_always_there() -> None:
    keyed = {}
    for kind, path, node in ALL_NODES:
        if node.get("x-kubernetes-list-type") == "map":
            keys, item = node["x-kubernetes-list-map-keys"], node["items"]
            keyed[f"{kind} {path}"] = keys
            for key in keys:
                field = item["properties"][key]
                assert key in item.get("required", ()) or "default" in field, f"{kind} {path} {key}"
                assert field["type"] in ("string", "integer")
    assert keyed["Devices spec.groups"] == keyed["Devices status.groups"] == ["id", "manufacturer"]
    assert keyed["Devices spec.groups[].accelerators"] == ["id"]
    assert keyed["Devices spec.interfaces"] == ["name"]
    assert keyed["Instance spec.ports"] == ["port", "protocol"]


def test_lists_of_ours_say_how_they_are_merged() -> None:
    for kind, path, node in ALL_NODES:
        if node.get("type") == "array" and not kind.startswith("NodeFeature"):
            assert node["x-kubernetes-list-type"] in ("map", "atomic"), f"{kind} {path}"


def test_rules_name_fields_that_exist_and_are_balanced() -> None:
    count = 0
    for schema in SCHEMAS.values():
        for node, rule in rules(schema):
            count += 1
            text = rule["rule"]
            assert text.count("(") == text.count(")")
            assert re.fullmatch(r"[^\n]+", rule["message"])
            assert rule["reason"] in ("FieldValueInvalid", "FieldValueRequired", "FieldValueForbidden")
            assert rule.get("optionalOldSelf", False) is text.startswith("oldSelf.hasValue() || (")
            paths = re.findall(r"\b(?:self|oldSelf)((?:\.\??[a-zA-Z]+)+)(\(?)", text)
            for path, call in paths:
                _resolve(node, path.replace("?", "").split(".")[1:], is_call=bool(call))
            if "fieldPath" in rule:
                _resolve(node, rule["fieldPath"].split(".")[1:], is_call=False)
    assert count == 44


def _resolve(node: Any, path: list[str], *, is_call: bool) -> None:
    part = node
    for name in path[:-1] if is_call else path:
        assert name in part.get("properties", {}), f"{name} of {'.'.join(path)}"
        part = part["properties"][name]


def test_texts_that_rules_compare_are_bounded() -> None:
    """Otherwise the API server refuses the definition: it cannot bound what the rule costs."""
    spec = SCHEMAS["InstanceType"]["properties"]["spec"]["properties"]
    for name in ("acceleratorGroup", "generalGroup", "os", "arch", "localStorage"):
        assert spec[name]["maxLength"] <= 253
    assert SCHEMAS["Instance"]["properties"]["spec"]["properties"]["additionalVolumes"]["maxItems"] == 64


def test_the_columns_are_those_of_the_offline_tables() -> None:
    for kind, offline in (
        ("InstanceType", tables.instance_types),
        ("InstanceTypeFlavor", tables.instance_type_flavors),
    ):
        columns = DOCUMENTS[kind]["spec"]["versions"][1]["additionalPrinterColumns"]
        narrow = [each["name"].upper() for each in columns if not each.get("priority")]
        assert ("NAME", *narrow) == offline(()).columns
        assert ("NAME", *(each["name"].upper() for each in columns)) == offline((), wide=True).columns


def test_every_column_shows_a_field_of_the_schema() -> None:
    for kind in KINDS:
        known = {path.replace("[]", "[*]") for path, _ in nodes(SCHEMAS[kind.kind])}
        for column in kind.columns:
            path = column.path.removeprefix(".")
            assert path in known or path == "metadata.creationTimestamp", column.name
            assert column.description


def test_a_held_pack_shows_why_in_its_table() -> None:
    columns = DOCUMENTS["RulePack"]["spec"]["versions"][1]["additionalPrinterColumns"]
    assert [each["name"] for each in columns if not each.get("priority")] == [
        "Digest", "Source", "Verdict", "Program", "Why", "Age",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["NodeFeature", "NodeFeatureRule"])
def test_node_feature_kinds_are_as_others_serve_them(kind: str) -> None:
    (version,) = DOCUMENTS[kind]["spec"]["versions"]
    assert (version["name"], version["served"], version["storage"]) == ("v1alpha1", True, True)
    assert "subresources" not in version
    assert "additionalPrinterColumns" not in version
    assert SCHEMAS[kind]["required"] == ["spec"]
    for path, node in nodes(SCHEMAS[kind]):
        assert not {"default", "maxLength", "maxItems", "pattern", "x-kubernetes-validations"} & set(node), path
