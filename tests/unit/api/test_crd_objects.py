"""Objects against the schemas: what was recorded and what we render is taken whole, what is wrong is named."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.api.cases import (
    ACCEPTED,
    LEGACY_FIELDS,
    OLD_TYPE,
    OURS,
    REFUSED,
    RENDERED,
    Refused,
    changed,
)
from tests.unit.api.schemas import SCHEMAS, pruned, rule_blames, schema_faults


def _name(thing: dict[str, Any]) -> str:
    return f"{thing['kind']}/{thing['metadata']['name']}"


@pytest.mark.parametrize("thing", ACCEPTED, ids=_name)
def test_what_was_recorded_and_what_we_render_fits(thing: dict[str, Any]) -> None:
    assert schema_faults(SCHEMAS[thing["kind"]], thing) == []


@pytest.mark.parametrize("thing", [each for each in ACCEPTED if each is not OLD_TYPE], ids=_name)
def test_no_field_of_it_is_pruned(thing: dict[str, Any]) -> None:
    assert pruned(SCHEMAS[thing["kind"]], thing) == []


def test_the_older_descriptors_of_a_type_are_taken_and_dropped() -> None:
    assert schema_faults(SCHEMAS["InstanceType"], OLD_TYPE) == []
    assert pruned(SCHEMAS["InstanceType"], OLD_TYPE) == [f"spec.{name}" for name in LEGACY_FIELDS]


def test_the_spec_of_a_type_has_ten_fields() -> None:
    spec = SCHEMAS["InstanceType"]["properties"]["spec"]["properties"]
    assert list(spec) == [
        "displayName", "description", "inactive", "acceleratorGroup", "generalGroup", "acceleratable", "os", "arch",
        "unitResources", "localStorage",
    ]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_is_refused_is_named(case: Refused) -> None:
    schema = SCHEMAS[case.new["kind"]]
    faults = schema_faults(schema, case.new)
    if faults:
        assert [field for field, _ in faults] == [case.field]
        assert case.says in faults[0][1]
    else:
        index_free = case.field.replace("[0]", "[]")
        assert (index_free, case.says) in rule_blames(schema)
    if case.old is not None:
        assert schema_faults(schema, case.old) == []


def test_every_rule_has_a_case() -> None:
    """Fields frozen by one and the same construction are there by example."""
    said = {(case.field.replace("[0]", "[]"), case.says) for case in REFUSED}
    silent = {blame for schema in SCHEMAS.values() for blame in rule_blames(schema)} - said
    assert {field for field, _ in silent} == {
        "spec.command", "spec.image", "spec.imagePullPolicy", "spec.ports", "spec.sshPublicKey", "spec.volumeMount",
        "spec.resources.accelerator",
    }  # fmt: skip


def test_every_rendered_kind_is_ours() -> None:
    assert {each["kind"] for each in RENDERED} <= OURS


def test_an_unknown_field_of_what_we_render_would_be_seen() -> None:
    assert pruned(SCHEMAS["Devices"], changed(RENDERED[0], "spec.more", 1)) == ["spec.more"]
