"""What people get wrong in packs: each fault has its code, its place and a remedy, and never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.behaviour.packs import GOOD, HEAD, IDENTITY, alone, with_rule, write
from tests.behaviour.running import run

FAULTS = {
    "a PCI id that is a number": (GOOD.replace('"fade"', "1002"), "RP111", 7, "1002"),
    "a PCI id that looks like an exponent": (GOOD.replace('"fade"', "19e5"), "RP110", 7, "19e5"),
    "a key twice": (HEAD + "spec: {}\nspec: {}\n", "RP120", 5, "spec"),
    "an anchor": (HEAD + "spec:\n  params: &shared {}\n", "RP130", 5, "shared"),
    "a misspelt key": (
        with_rule("id: a\nwehn: has(card.name)\nemit: {product: x}"),
        "RP201",
        14,
        "did you mean `when`",
    ),
    "an unknown function": (
        with_rule("id: a\nemit:\n  product: $(uper(default(card.name, '')))"),
        "RP331",
        15,
        "did you mean upper()",
    ),
    "a type error": (
        with_rule("id: a\nwhen: card.memoryMib == 'big'\nemit: {product: x}"),
        "RP410",
        14,
        "card.memoryMib",
    ),
    "a nullable where a text is needed": (
        with_rule("id: a\nemit: {product: $(upper(card.name))}"),
        "RP413",
        14,
        "card.name",
    ),
    "a rule that can never fire": (with_rule('id: a\nwhen: "`false`"\nemit: {product: x}'), "RP516", 14, "never"),
    "no text at all": (HEAD + "spec:\n" + IDENTITY + "# " + "x" * 300 * 1024, "RP003", None, "262144"),
    "thousands of brackets": (HEAD + "spec: " + "[" * 5000, "RP103", 4, "32"),
    "a binary file": (b"\x7fELF\x02\x01\x01\x00\x00\xff\xfe" * 50, "RP004", 1, ""),
    "an empty file": ("", "RP106", None, ""),
    "a document of another kind": ("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "RP210", 1, "v1"),
    "a list": ("- a\n- b\n", "RP203", 1, "map"),
    "an unclosed bracket": (HEAD + "spec: {a: [1, 2\n", "RP102", None, ""),
    "a tab": (HEAD + "spec:\n\tparams: {}\n", "RP105", 5, "tab"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_has_its_code_its_place_and_a_remedy(fault: str, tmp_path: Path) -> None:
    text, code, line, words = FAULTS[fault]
    path = write(tmp_path, text)
    result = run("validate", path, "--rules", alone(tmp_path))
    assert result.exit_code == 1, result.output
    first = next(each for each in result.stdout.splitlines() if f"[{code}]" in each)
    assert first.startswith(f"{path}:{line}:" if line else f"{path}:"), result.stdout
    assert words in result.stdout
    assert "  help: " in result.stdout or "did you mean" in result.stdout, result.stdout


def test_a_nullable_names_the_place_in_the_expression(tmp_path: Path) -> None:
    path = write(tmp_path, with_rule("id: a\nemit: {product: $(upper(card.name))}"))
    assert f"{path}:14:33-42 error[RP413]" in run("validate", path, "--rules", alone(tmp_path)).stdout


def test_a_fault_in_one_pack_hides_none_in_another(tmp_path: Path) -> None:
    write(tmp_path, with_rule("id: a\nwehn: x\nemit: {product: x}"), "one.yaml")
    write(tmp_path, GOOD.replace("acme", "other").replace("has(card.name)", "has(card.nmae)"), "two.yaml")
    result = run("validate", str(tmp_path))
    assert "one.yaml" in result.stdout
    assert "two.yaml" in result.stdout


def test_a_folder_that_is_not_there_says_so() -> None:
    for command in (
        ("validate", "no/such"),
        ("test", "no/such"),
        ("plan", "no/such"),
        ("validate", "--rules", "no/such"),
    ):
        result = run(*command)
        assert result.exit_code == 2
        assert result.stderr.startswith("engine: error: no/such is not there")
        assert "; give " in result.stderr


def test_a_broken_pack_is_not_tested(tmp_path: Path) -> None:
    result = run("test", write(tmp_path, with_rule("id: a\nwehn: x\nemit: {product: x}")))
    assert result.exit_code == 1
    assert "RP201" in result.stdout
