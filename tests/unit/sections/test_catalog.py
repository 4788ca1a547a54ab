"""The catalogue as a whole: what is in it, that every declaration can be read, and that flags agree with each other."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import engine.sections
from engine.lang.notation import parse_type
from engine.lang.section import Combine, Owner, Section
from engine.lang.types import MISSING, Kind, Type
from engine.sections.catalog import CATALOGUE

MANUFACTURER = {
    "model", "features", "profile", "labels", "guards", "claims", "prepare", "inject", "health", "prerequisites",
}  # fmt: skip
DERIVATION = {
    "host-labels", "cpu", "managed", "worker-labels", "group", "device-labels", "topology", "resources", "capacity",
    "devices-labels", "fit-labels", "contributes", "flavor", "pool", "type", "pool-labels", "queue", "quota", "checks",
    "entrance", "catalogue", "request-rules",
}  # fmt: skip
SEES_SETTINGS = {"managed", "worker-labels", "contributes", "flavor", "pool", "type", "checks"}
MUST = {
    "inject", "cpu", "group", "device-labels", "topology", "resources", "flavor", "pool", "pool-labels", "queue", "quota",
    "entrance", "catalogue",
}  # fmt: skip
SECTIONS = sorted(CATALOGUE.sections.values(), key=lambda section: section.name)


def _named() -> dict[str, Type]:
    return dict(CATALOGUE.named_types({}))


def _id(section: Section) -> str:
    return section.name


def test_the_catalogue_holds_the_contracts_sections_and_no_other() -> None:
    owners = {name: section.owner for name, section in CATALOGUE.sections.items()}
    assert {name for name, owner in owners.items() if owner is Owner.MANUFACTURER} == MANUFACTURER
    assert {name for name, owner in owners.items() if owner is Owner.DERIVATION} == DERIVATION


def test_every_declaration_in_the_package_is_in_the_catalogue() -> None:
    declared = set()
    for found in pkgutil.iter_modules(engine.sections.__path__):
        section = getattr(importlib.import_module(f"engine.sections.{found.name}"), "SECTION", None)
        if section is not None:
            declared.add(section.name)
            assert section.name == found.name.replace("_", "-"), "a file is named after its section"
    assert declared == set(CATALOGUE.sections)


def test_exactly_the_marked_sections_see_settings() -> None:
    assert {section.name for section in SECTIONS if section.settings} == SEES_SETTINGS


def test_exactly_the_marked_sections_have_to_fire() -> None:
    assert {section.name for section in SECTIONS if section.must} == MUST


def test_combining_is_as_the_contract_says() -> None:
    by_combine = {
        combine: {section.name for section in SECTIONS if section.combine is combine}
        for combine in (Combine.MERGE, Combine.LIST, Combine.SUM)
    }
    assert by_combine[Combine.SUM] == {"capacity"}
    assert by_combine[Combine.LIST] == {"claims", "prepare", "prerequisites", "contributes", "checks", "request-rules"}
    assert by_combine[Combine.MERGE] == {
        "labels", "inject", "host-labels", "worker-labels", "device-labels", "resources", "devices-labels", "fit-labels",
        "flavor", "pool-labels", "catalogue",
    }  # fmt: skip


@pytest.mark.parametrize("section", SECTIONS, ids=_id)
def test_inputs_are_named_objects_or_declared_exceptions(section: Section) -> None:
    bare = {"type": {"product"}, "checks": {"active"}, "capacity": {"models", "profiles"}, "contributes": {"groups"}}
    bare["devices-labels"] = {"groups"}
    for name, member in section.input_type(_named()).members:
        if name not in bare.get(section.name, ()):
            assert member.type.kind is Kind.OBJECT, f"{section.name}: {name} is no object"


@pytest.mark.parametrize("section", SECTIONS, ids=_id)
def test_emit_shapes_can_be_read(section: Section) -> None:
    shapes = section.emit_types(_named())
    assert shapes
    assert all(shape.kind in (Kind.OBJECT, Kind.MAP) for shape in shapes)


@pytest.mark.parametrize("section", SECTIONS, ids=_id)
def test_a_section_that_emits_free_keys_owns_them(section: Section) -> None:
    free = any(shape.kind is Kind.MAP for shape in section.emit_types(_named()))
    assert not free or section.owns


@pytest.mark.parametrize("section", SECTIONS, ids=_id)
def test_a_declaration_says_where_it_runs_how_often_and_what_for(section: Section) -> None:
    assert section.runs in ("N", "W", "NW")
    assert section.once_per
    assert len(section.help) > 20


def test_the_features_of_a_card_default_to_nothing_that_can_be_cut() -> None:
    (shape,) = CATALOGUE.sections["features"].emit_types({})
    defaults = {name: member.default for name, member in shape.members}
    assert MISSING not in defaults.values()
    assert defaults == {
        "logicalSlices": 0,
        "coresOvercommit": False,
        "partitions": False,
        "isolation": "none",
        "sliceReleasedOnTermination": True,
        "reserveMib": 0,
        "grantUnit": 1,
    }


def test_a_packs_slots_type_the_model_input() -> None:
    named = CATALOGUE.named_types({"identity": {"slots": ["minor"]}, "facts": {"extras": {"arch": "string"}}})
    card = CATALOGUE.sections["model"].input_type(named).member("card")
    assert card is not None
    assert str(card.type.member("slots").type) == "{minor?: int}"
    assert str(card.type.member("extras").type) == "{arch?: str}"


@pytest.mark.parametrize("scope", ["card", "alloc"])
def test_derived_values_see_the_allocation_and_a_card_sees_itself(scope: str) -> None:
    made = parse_type("{" + CATALOGUE.derived[scope] + "}", _named())
    assert made.names == (("card", "alloc") if scope == "card" else ("alloc",))


def test_the_vocabulary_is_a_major_and_a_minor_number() -> None:
    major, minor = CATALOGUE.vocabulary.split(".")
    assert major.isdigit()
    assert minor.isdigit()
