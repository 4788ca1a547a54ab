"""`engine validate --fix` and the formats for machines: bytes change only where a fix says so."""

from __future__ import annotations

import json
from pathlib import Path

from tests.behaviour.packs import GOOD, write
from tests.behaviour.running import run

UNQUOTED = GOOD.replace('"fade"', "19e5").replace('["0302"]', "[0302] ").replace("\n", "\r\n").encode()
QUOTED = GOOD.replace('"fade"', '"19e5"').replace('["0302"]', '["0302"] ').replace("\n", "\r\n").encode()


def test_a_fix_changes_its_bytes_and_no_other(tmp_path: Path) -> None:
    path = write(tmp_path, UNQUOTED)
    Path(path).chmod(0o640)
    result = run("validate", path, "--fix")
    assert (result.exit_code, result.stdout) == (0, "1 pack, 0 errors, 0 warnings\n")
    assert Path(path).read_bytes() == QUOTED
    assert Path(path).stat().st_mode & 0o777 == 0o640
    assert f"fixed {path}:7:" in result.stderr
    assert result.stderr.splitlines()[-1] == "2 fixes in 1 file"
    assert [each.name for each in tmp_path.iterdir()] == ["pack.yaml"]


def test_what_has_no_sure_fix_is_left_and_reported(tmp_path: Path) -> None:
    text = GOOD.replace("has(card.name)", "has(card.nmae)")
    path = write(tmp_path, text)
    result = run("validate", path, "--fix")
    assert result.exit_code == 1
    assert "RP401" in result.stdout
    assert Path(path).read_text(encoding="utf-8") == text
    assert result.stderr == "0 fixes in 0 files\n"


def test_standard_input_is_mended_onto_standard_output() -> None:
    result = run("validate", "-", "--fix", stdin=UNQUOTED)
    assert result.exit_code == 0
    assert result.stdout_bytes == QUOTED
    assert "2 fixes in 1 file" in result.stderr


def test_github_gets_a_command_a_finding(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace('"fade"', "19e5"))
    result = run("validate", path, "--format", "github")
    assert result.exit_code == 1
    assert result.stdout.startswith(f"::error file={path},line=7,col=20,endLine=7,endColumn=24,title=RP110 ")


def test_sarif_names_rules_places_and_fixes(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace('"fade"', "19e5"))
    found = json.loads(run("validate", path, "--format", "sarif").stdout)
    assert found["version"] == "2.1.0"
    made = found["runs"][0]
    assert [rule["id"] for rule in made["tool"]["driver"]["rules"]] == ["RP110"]
    region = made["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"]) == (7, 20)
    assert made["results"][0]["fixes"]


def test_lint_is_part_of_validate(tmp_path: Path) -> None:
    unused = GOOD.replace("  sections:\n", "  params:\n    spare: {type: integer, default: 1}\n  sections:\n")
    result = run("validate", write(tmp_path, unused))
    assert result.exit_code == 0
    assert "warning[RP50" in result.stdout
    assert "spare" in result.stdout
