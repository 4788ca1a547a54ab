"""Every diagnostic has a page, and the examples of a page are true: the one gives exactly that code, the other nothing."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.lang.codes import CODES
from engine.lang.diagnostics import Diagnostics
from engine.lang.linking import link
from engine.lang.mutate import mutate
from engine.lang.packs import PackFiles
from engine.lang.packtest import run_tests
from engine.lang.source import Source
from engine.rulefiles import find_packs
from engine.sections.catalog import CATALOGUE
from engine.sections.packlint import lint_packs
from engine.sections.packtests import JOINT

PAGES = Path(__file__).parents[2] / "docs" / "diagnostics"

# Codes that nothing gives yet, with the reason; the list only ever gets shorter.
RESERVED = {
    "RP811": "no list of an input is without a bound",
    "RP901": "reasons of `could not tell` get codes when the service reports conditions",
    "RP902": "reasons of `could not tell` get codes when the service reports conditions",
    "RP903": "reasons of `could not tell` get codes when the service reports conditions",
    "RP904": "reasons of `could not tell` get codes when the service reports conditions",
}

# Codes about a mounted volume, which no pack can show; where each is shown instead.
SHOWN_ELSEWHERE = {"RP910": "tests/unit/delivery", "RP911": "tests/unit/delivery"}
WITH_EXAMPLES = sorted(set(CODES) - set(RESERVED) - set(SHOWN_ELSEWHERE))

HEAD = 'apiVersion: rules.gpustack.ai/v1alpha1\nkind: Manufacturer\nmetadata: {name: acme, version: "1.0.0"}\nspec:\n'
IDENTITY = """\
  identity:
    manufacturer: acme
    pci: [{vendor: "10ab", classPrefixes: ["03"]}]
    resource: acme.example/gpu
"""
BLOCK = re.compile(r"^```(yaml|files) (failing|fixed)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    language: str
    words: tuple[str, ...]
    text: str

    @property
    def options(self) -> dict[str, str]:
        return dict((*word.split("=", 1), "")[:2] for word in self.words)  # type: ignore[misc]


def examples(code: str, wanted: str) -> list[Example]:
    text = (PAGES / f"{code}.md").read_text()
    return [
        Example(found[1], tuple(found[3].split()), found[4]) for found in BLOCK.finditer(text) if found[2] == wanted
    ]


def documents(example: Example) -> list[str]:
    """The packs of an example, each a file; what starts with `apiVersion` is taken as it is."""
    text = example.text
    if text.startswith(("apiVersion:", "# apiVersion:")):
        return text.split("---\n")
    identity = "" if text.startswith("identity:") or "\nidentity:" in text else IDENTITY
    return [HEAD + identity + textwrap.indent(text, "  ")]


def data(text: str, options: dict[str, str]) -> bytes:
    if "filler" in options:
        text += "#" * int(options["filler"]) + "\n"
    if "items" in options:
        text = text.replace("[a]", "[" + ",".join("a" * int(options["items"])) + "]")
    if "latin-1" in options:
        return text.encode("latin-1")
    return (b"\xef\xbb\xbf" if "mark" in options else b"") + text.encode()


def codes(example: Example, folder: Path) -> set[str]:
    """The codes of everything found in an example."""
    if example.language == "files":
        return _codes_of_files(example, folder)
    files = [
        PackFiles(f"pack-{number}.yaml", (Source(f"pack-{number}.yaml", data(text, example.options)),))
        for number, text in enumerate(documents(example))
    ]
    overlays = [one for one in files if b"kind: Overlay" in one.sources[0].data]
    linked = link([one for one in files if one not in overlays], CATALOGUE, overlays=overlays)
    found = {one.code for one in linked.diagnostics} | {one.code for one in lint_packs(linked)}
    if linked.program is not None and {"test", "coverage"} & set(example.options):
        report = run_tests(linked.program, CATALOGUE, JOINT, coverage="coverage" in example.options)
        found |= {one.code for one in report.diagnostics()}
    if "mutate" in example.options:
        found |= {one.code for one in mutate(linked, CATALOGUE, JOINT).diagnostics()}
    return found


def _codes_of_files(example: Example, folder: Path) -> set[str]:
    for name in example.text.split():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(HEAD + IDENTITY)
    diagnostics = Diagnostics()
    find_packs([folder], diagnostics)
    return {one.code for one in diagnostics}


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert {path.stem for path in PAGES.glob("RP*.md")} == set(CODES)


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_page_names_its_code_and_says_why_and_what_to_do(code: str) -> None:
    text = (PAGES / f"{code}.md").read_text()
    assert text.startswith(f"# {code}: {CODES[code].title}\n\n*{CODES[code].severity}*\n")
    assert "\n## Why\n" in text
    assert "\n## What to do\n" in text
    assert f"[{code}]({code}.md)" in (PAGES / "README.md").read_text()


@pytest.mark.parametrize("code", WITH_EXAMPLES)
def test_a_failing_example_gives_exactly_the_code_of_its_page(code: str, tmp_path: Path) -> None:
    found = examples(code, "failing")
    assert found
    for example in found:
        assert codes(example, tmp_path) == {code}


@pytest.mark.parametrize("code", WITH_EXAMPLES)
def test_a_fixed_example_gives_nothing(code: str, tmp_path: Path) -> None:
    found = examples(code, "fixed")
    assert found
    for example in found:
        assert codes(example, tmp_path) == set()


@pytest.mark.parametrize("code", sorted(RESERVED))
def test_a_reserved_code_is_given_by_nothing_and_says_so(code: str) -> None:
    engine = Path(__file__).parents[2] / "engine"
    named = [path for path in engine.rglob("*.py") if path.name != "codes.py" and f'"{code}"' in path.read_text()]
    assert named == []
    assert "Reserved: nothing gives this code yet." in (PAGES / f"{code}.md").read_text()


@pytest.mark.parametrize("code", sorted(SHOWN_ELSEWHERE))
def test_a_code_that_no_pack_can_show_is_shown_by_tests_of_its_own(code: str) -> None:
    tests = (PAGES.parents[1] / SHOWN_ELSEWHERE[code]).rglob("test_*.py")
    assert any(f'"{code}"' in path.read_text() for path in tests)
    assert "No pack can show it." in (PAGES / f"{code}.md").read_text()
