"""Pack files on disk: which files are one pack, and what is refused."""

import pytest

from engine.errors import InputError
from engine.lang.diagnostics import Diagnostics
from engine.rulefiles import find_packs, read_source, shipped_packs, shipped_rules


def write(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"name: {name}\n", encoding="utf-8")


def test_a_folder_with_a_pack_file_is_one_pack_and_its_pack_file_comes_first(tmp_path):
    write(tmp_path, "acme/pack.yaml", "acme/a.yaml", "acme/tests/b.yml", "acme/README.md", "acme/.hidden.yaml")
    (found,) = find_packs([tmp_path], Diagnostics())
    assert found.directory
    assert [source.path.removeprefix(f"{tmp_path}/acme/") for source in found.sources] == [
        "pack.yaml",
        "a.yaml",
        "tests/b.yml",
    ]


def test_in_any_other_folder_every_yaml_file_is_a_pack_in_order_of_names(tmp_path):
    write(tmp_path, "b.yaml", "a.YML", "deeper/c.yaml", "notes.md")
    found = find_packs([tmp_path], Diagnostics())
    assert [pack.name.removeprefix(f"{tmp_path}/") for pack in found] == ["a.YML", "b.yaml", "deeper/c.yaml"]
    assert not any(pack.directory for pack in found)


def test_a_file_that_is_no_yaml_is_a_finding_and_prose_is_not(tmp_path):
    write(tmp_path, "pack.yaml", "pack.json", "README.md", "deep/x.toml")
    diagnostics = Diagnostics()
    find_packs([tmp_path], diagnostics)
    assert [(d.code, d.path.removeprefix(f"{tmp_path}/")) for d in diagnostics] == [
        ("RP001", "deep/x.toml"),
        ("RP001", "pack.json"),
    ]


def test_a_file_named_by_hand_is_a_pack_whatever_its_ending(tmp_path):
    write(tmp_path, "rules.txt")
    assert len(find_packs([tmp_path / "rules.txt"], Diagnostics())) == 1


def test_a_path_that_is_not_there_says_so(tmp_path):
    with pytest.raises(InputError, match="is not there"):
        find_packs([tmp_path / "nope"], Diagnostics())


def test_no_more_than_the_limit_of_a_file_is_read(tmp_path):
    big = tmp_path / "big.yaml"
    big.write_bytes(b"#" * 10_000_000)
    assert len(read_source(big).data) == 256 * 1024 + 1


def test_a_file_that_cannot_be_read_says_so(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_source(tmp_path)


def test_the_shipped_packs_are_found():
    assert (shipped_rules() / "derive").is_dir()
    assert len(shipped_packs()) >= 5
