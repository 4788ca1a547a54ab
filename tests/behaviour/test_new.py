"""`engine new manufacturer`: what it writes is clean and tested at once, and nothing is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.behaviour.running import TOP, run


def test_a_new_pack_is_clean_tested_and_covered_at_once(tmp_path: Path) -> None:
    made = run("new", "manufacturer", "fabrikam", "--dir", str(tmp_path))
    home = tmp_path / "fabrikam"
    assert made.exit_code == 0, made.output
    assert made.stdout.splitlines() == [
        f"wrote {home / path}" for path in ("pack.yaml", "tests/cards.yaml", "README.md")
    ]
    checked = run("validate", str(home), "--fail-on", "warning")
    assert (checked.exit_code, checked.stdout) == (0, "1 pack, 0 errors, 0 warnings\n")
    tested = run("test", str(home), "--coverage", "--mutate")
    assert tested.exit_code == 0, tested.output
    assert "0 coverage gaps" in tested.stdout
    assert "0 survived" in tested.stdout


def test_the_schema_that_a_new_pack_names_is_there(tmp_path: Path) -> None:
    run("new", "manufacturer", "fabrikam", "--dir", str(tmp_path))
    for file in ("pack.yaml", "tests/cards.yaml"):
        first = (tmp_path / "fabrikam" / file).read_text(encoding="utf-8").splitlines()[0]
        named = first.removeprefix("# yaml-language-server: $schema=")
        assert ((tmp_path / "fabrikam" / file).parent / named).resolve() == (
            TOP / "schemas" / "manufacturer.v1alpha1.schema.json"
        )


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "fabrikam").mkdir()
    (tmp_path / "fabrikam" / "pack.yaml").write_text("mine", encoding="utf-8")
    made = run("new", "manufacturer", "fabrikam", "--dir", str(tmp_path))
    assert made.exit_code == 2
    assert "is there already" in made.stderr
    assert (tmp_path / "fabrikam" / "pack.yaml").read_text(encoding="utf-8") == "mine"


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    made = run("new", "manufacturer", "fabrikam", "--dir", str(tmp_path), "--dry-run")
    assert made.stdout.startswith(f"would write {tmp_path / 'fabrikam' / 'pack.yaml'}\n")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Fabrikam", "write lower-case words"),
        ("fab_rikam", "write lower-case words"),
        ("-fab", "No such option"),
        ("fab--rikam", "write lower-case words"),
        ("../fab", "write lower-case words"),
        ("9fab", "write lower-case words"),
        ("f" * 25, "use at most 24"),
        ("nvidia", "there is a pack of nvidia already"),
    ],
)
def test_a_name_that_will_not_do_is_refused_with_what_would(name: str, words: str, tmp_path: Path) -> None:
    made = run("new", "manufacturer", name, "--dir", str(tmp_path))
    assert made.exit_code == 2
    assert words in made.stderr
    assert not any(tmp_path.iterdir())
