"""The closed list of constants: the shipped block is exactly it, and no code asks for a name outside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.chain.readback import Constants
from engine.errors import ContractError
from engine.features.keys import RuleKeys
from engine.sections.constants import KEYS, NAMES, PREFIXES, SUFFIXES, VALUES, read_constants
from engine.worker.asking import Keys
from engine.worker.reading.feeding import Suffixes
from tests.unit.chain.shipped import program

ENGINE = Path(__file__).parents[3] / "engine"
BLOCK = {name: f"{name}/" for name in NAMES}


def shipped() -> dict[str, str]:
    added = {"unitsPerCard", "unitsPerShare"}
    return {name: value for name, value in program().block("constants").items() if name not in added}


def test_the_shipped_constants_are_the_closed_list_in_its_order() -> None:
    assert tuple(shipped()) == NAMES
    assert len(set(NAMES)) == len(NAMES)


def test_the_shipped_constants_have_the_separators_that_their_group_promises() -> None:
    block = shipped()
    assert all(block[name].endswith(("/", "-")) for name in PREFIXES)
    assert all(block[name].startswith(".") for name in SUFFIXES)
    assert all("/" in block[name] and block[name][-1].isalnum() for name in KEYS)
    assert not any("/" in block[name] for name in VALUES)


@pytest.mark.parametrize("reader", [Constants, Keys, RuleKeys, Suffixes])
def test_what_code_reads_back_by_is_in_the_closed_list(reader: type[Constants | Keys | RuleKeys | Suffixes]) -> None:
    reader.of(BLOCK)


@pytest.mark.parametrize("reader", [Constants, Keys])
def test_a_constant_that_is_not_there_is_named_with_what_to_do(reader: type[Constants | Keys]) -> None:
    block = {name: value for name, value in BLOCK.items() if name != "checkNodeDevices"}
    with pytest.raises(ContractError, match="no constant checkNodeDevices") as refusal:
        reader.of(block)
    assert refusal.value.remedy == "link the derivation packs that were shipped with this engine"


def test_no_rule_names_a_constant_outside_the_list() -> None:
    rules = ENGINE.parent / "rules"
    named = {name for path in rules.rglob("*.yaml") for name in re.findall(r"\bconst\.([A-Za-z]+)", path.read_text())}
    assert named - {"unitsPerCard", "unitsPerShare"} <= set(NAMES)


def test_a_block_that_is_not_there_has_no_constants() -> None:
    with pytest.raises(ContractError, match="no constant os"):
        read_constants(None)["os"]
