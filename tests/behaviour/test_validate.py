"""`engine validate`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.behaviour.packs import GOOD, HEAD, write
from tests.behaviour.running import run


def test_the_shipped_packs_are_clean() -> None:
    result = run("validate")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].endswith("packs, 0 errors, 0 warnings")


def test_one_pack_is_checked_beside_the_shipped_ones(tmp_path: Path) -> None:
    result = run("validate", write(tmp_path, GOOD))
    assert result.exit_code == 0, result.output
    assert result.stdout == "1 pack, 0 errors, 0 warnings\n"


def test_a_pack_comes_from_standard_input_too() -> None:
    broken = run("validate", "-", stdin=GOOD.replace("has(card.name)", "has(card.nmae)"))
    assert broken.exit_code == 1
    assert "<stdin>:14:" in broken.stdout
    assert run("validate", "-", stdin=GOOD).exit_code == 0


def test_a_folder_and_a_pack_in_it_are_one_pack(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD, "acme.yaml")
    assert run("validate", str(tmp_path), path).stdout == "1 pack, 0 errors, 0 warnings\n"


def test_nothing_to_check_has_a_code_of_its_own(tmp_path: Path) -> None:
    result = run("validate", str(tmp_path))
    assert result.exit_code == 4
    assert "nothing to check" in result.stderr
    assert result.stdout == ""


def test_warnings_fail_only_when_asked(tmp_path: Path) -> None:
    path = write(tmp_path, b"\xef\xbb\xbf" + GOOD.encode())
    lenient = run("validate", path)
    assert lenient.exit_code == 0
    assert "warning[RP101]" in lenient.stdout
    assert lenient.stdout.splitlines()[-1] == "1 pack, 0 errors, 1 warning"
    assert run("validate", path, "--fail-on", "warning").exit_code == 1


def test_json_follows_its_published_schema(tmp_path: Path) -> None:
    schema = json.loads(Path("schemas/diagnostics.v1.schema.json").read_text(encoding="utf-8"))
    text = GOOD.replace("has(card.name)", "has(card.nmae)").replace("slots: [minor]", "slots: [minor]\n    slot: 1")
    found = json.loads(run("validate", write(tmp_path, text), "--format", "json").stdout)
    jsonschema.Draft202012Validator(schema).validate(found)
    assert found["summary"] == {"packs": 0, "errors": 1, "warnings": 0}
    assert [each["start"]["line"] for each in found["diagnostics"]] == [11]


def test_rules_takes_the_place_of_the_shipped_packs(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    result = run("validate", "--rules", str(tmp_path))
    assert result.stdout == "1 pack, 0 errors, 0 warnings\n"


@pytest.mark.parametrize(
    "args", [("validate", "--fail-on", "info"), ("validate", "--format", "xml"), ("validate", "--x")]
)
def test_bad_usage_is_2(args: tuple[str, ...]) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert "Usage: engine validate" in result.stderr


def test_two_packs_of_one_name_are_told_with_both_places(tmp_path: Path) -> None:
    write(tmp_path, GOOD, "one.yaml")
    write(tmp_path, HEAD + "spec: {}\n", "two.yaml")
    result = run("validate", str(tmp_path))
    assert result.exit_code == 1
    assert "RP601" in result.stdout
    assert "one.yaml:" in result.stdout
    assert "two.yaml:" in result.stdout


def test_an_expression_that_the_package_reads_otherwise_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.cli.validate.matches_oracle", lambda text, _node: f"{text} differs")
    result = run("validate", write(tmp_path, GOOD))
    assert result.exit_code == 1
    assert "RP301" in result.stdout
    assert ":14:15-29 " in result.stdout
    assert "has(card.name) differs" in result.stdout
