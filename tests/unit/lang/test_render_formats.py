"""Findings for code scanning services and for workflow runs."""

from __future__ import annotations

import json

import pytest

from engine.lang.codes import CODES, Severity
from engine.lang.diagnostics import Diagnostic, Edit, Fix, Related
from engine.lang.render_github import render_github
from engine.lang.render_sarif import render_sarif
from engine.lang.source import Place, Source, Span

SOURCE = Source("rules/a b.yaml", b"a: no\nb: 1\n")
PLACE = Place(SOURCE, Span(3, 5))
FINDING = Diagnostic(
    "RP110",
    "`no`: 50 %\nsure",
    Severity.ERROR,
    PLACE,
    help="quote it",
    related=(Related("the other", Place(SOURCE, Span(6, 7))),),
    fix=Fix((Edit(Span(3, 5), '"no"'),)),
)
LOOSE = Diagnostic("RP001", "no YAML file", Severity.WARNING, path="rules/x.json")
NOWHERE = Diagnostic("RP712", "too many", Severity.INFO)


def test_a_sarif_log_has_what_the_format_requires() -> None:
    log = render_sarif([FINDING, LOOSE, NOWHERE, FINDING], version="1.2.3")
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("engine", "1.2.3")
    assert [rule["id"] for rule in driver["rules"]] == ["RP001", "RP110", "RP712"]
    for result in run["results"]:
        rule = driver["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["shortDescription"]["text"] == CODES[rule["id"]].title
        assert rule["name"].isidentifier()
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
    assert json.loads(json.dumps(log)) == log


def test_a_result_has_its_place_its_relations_and_its_fix() -> None:
    (result,) = render_sarif([FINDING], version="1")["runs"][0]["results"]
    (location,) = result["locations"]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "rules/a%20b.yaml"
    region = {"startLine": 1, "startColumn": 4, "endLine": 1, "endColumn": 6, "byteOffset": 3, "byteLength": 2}
    assert physical["region"] == region
    assert result["relatedLocations"][0]["message"] == {"text": "the other"}
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 2
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [
        {"deletedRegion": {"byteOffset": 3, "byteLength": 2}, "insertedContent": {"text": '"no"'}}
    ]
    assert result["message"]["text"].endswith("sure\nquote it")


def test_a_result_about_a_whole_file_has_no_region_and_one_about_none_no_location() -> None:
    first, second = render_sarif([LOOSE, NOWHERE], version="1")["runs"][0]["results"]
    assert first["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "rules/x.json"}}}]
    assert "locations" not in second
    assert [first["level"], second["level"]] == ["warning", "note"]


def test_every_code_has_a_rule_that_sarif_takes() -> None:
    found = [Diagnostic(code, "x", Severity.ERROR) for code in CODES]
    rules = render_sarif(found, version="1")["runs"][0]["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(CODES)
    assert all(rule["name"].isidentifier() for rule in rules)


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (
            FINDING,
            (
                "::error file=rules/a b.yaml,line=1,col=4,endLine=1,endColumn=6,title=RP110 ambiguous scalar"
                "::`no`: 50 %25%0Asure (help: quote it)\n"
            ),
        ),
        (LOOSE, "::warning file=rules/x.json,title=RP001 not a pack file::no YAML file\n"),
        (NOWHERE, "::notice title=RP712 too many accepted::too many\n"),
        (
            Diagnostic("RP130", "x", Severity.ERROR, Place(Source("a,b:c", b"x\ny"), Span(0, 3))),
            "::error file=a%2Cb%3Ac,line=1,col=1,endLine=2,title=RP130 anchor%2C alias%2C tag or merge key::x\n",
        ),
    ],
)
def test_a_workflow_command_is_escaped_and_names_the_place(found: Diagnostic, line: str) -> None:
    assert render_github([found]) == line


def test_no_finding_is_no_command() -> None:
    assert render_github([]) == ""
