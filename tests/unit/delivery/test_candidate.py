"""Files of a delivery become packs: what belongs together, what is too much, what is missing."""

from __future__ import annotations

import pytest

from engine.delivery.candidate import BUNDLE, content_digest, delivered, of_image
from engine.lang.packs import PackFiles
from engine.lang.source import Source
from engine.rulefiles import shipped_packs
from tests.unit.delivery.mounts import RENAMES, base, bundle

PACK = b"kind: Manufacturer\n"


def names(files: dict[str, bytes]) -> dict[str, list[str]]:
    return {group.name: [source.path for source in group.sources] for group in delivered(files).groups}


def test_tests_of_a_pack_lie_beside_it_with_dots_or_below_it() -> None:
    files = {"a/tests.x.yaml": PACK, "a/pack.yaml": PACK, "a/tests/y.yaml": PACK, "a/deep/pack.yaml": PACK}
    assert names(files) == {"a": ["a/pack.yaml", "a/deep/pack.yaml", "a/tests.x.yaml", "a/tests/y.yaml"]}


def test_files_without_a_pack_file_beside_them_are_packs_of_their_own() -> None:
    assert names({"b.yaml": PACK, "more/c.yml": PACK}) == {"b.yaml": ["b.yaml"], "more/c.yml": ["more/c.yml"]}
    assert names({"pack.yaml": PACK, "tests.a.yaml": PACK}) == {"": ["pack.yaml", "tests.a.yaml"]}


def test_overlays_are_told_apart_by_what_they_say_and_not_by_the_word() -> None:
    made = delivered({"a/pack.yaml": RENAMES, "b/pack.yaml": b"# no Overlay\n" + PACK})
    assert [group.name for group in made.overlays] == ["a"]
    assert [group.name for group in made.packs] == ["b"]


def test_the_packs_of_the_image_come_without_the_examples_of_overlays() -> None:
    made = of_image(shipped_packs())
    assert made.overlays == ()
    assert not any("overlays" in group.name for group in made.packs)
    assert made.source(made.packs[0], "derivation-pool") == "image"


@pytest.mark.parametrize(
    "other",
    [
        {"a.yaml": b"12", "b.yaml": b"3"},
        {"a.yaml": b"1", "c.yaml": b"23"},
        {"a.yaml": b"1"},
        {"a.yaml1": b"", "b.yaml": b"23"},
    ],
)
def test_another_name_or_byte_is_another_digest(other: dict[str, bytes]) -> None:
    assert delivered(other).digest != delivered({"a.yaml": b"1", "b.yaml": b"23"}).digest


def test_the_digest_of_a_delivery_does_not_depend_on_order() -> None:
    files = base()
    assert delivered(files).digest == delivered(dict(reversed(files.items()))).digest
    group = PackFiles("a", (Source("a/pack.yaml", b"1"),))
    assert content_digest(group) == content_digest(PackFiles("other", group.sources))


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ([128 * 1024], []),
        ([128 * 1024 + 1], ["warning"]),
        ([256 * 1024], ["warning"]),
        ([256 * 1024 + 1], ["error"]),
        ([120 * 1024] * 18, ["error"]),
    ],
)
def test_a_pack_is_weighed_and_so_are_all_together(sizes: list[int], found: list[str]) -> None:
    made = delivered({f"p{n}/pack.yaml": b"#" * size for n, size in enumerate(sizes)})
    assert [str(one.severity) for one in made.faults] == found
    assert {one.code for one in made.faults} <= {"RP801"}


def test_the_files_of_one_pack_weigh_together() -> None:
    made = delivered({"a/pack.yaml": b"#" * 200_000, "a/tests.b.yaml": b"#" * 100_000})
    assert [(one.code, one.path, str(one.severity)) for one in made.faults] == [("RP801", "a", "error")]


def test_prose_is_welcome_and_other_files_are_not() -> None:
    made = delivered({"README.md": b"", "notes.txt": b"", "x.json": b"{}"})
    assert [(one.code, one.path) for one in made.faults] == [("RP001", "x.json")]


def test_a_list_of_what_is_announced_names_what_is_missing_changed_or_extra() -> None:
    announced = bundle({"a.yaml": b"1", "b.yaml": b"2"})
    assert delivered(announced).awaited == ()
    assert delivered({**announced, "b.yaml": b"3", "c.yaml": b"4"}).awaited == ("b.yaml", "c.yaml")
    del announced["a.yaml"]
    assert delivered(announced).awaited == ("a.yaml",)


@pytest.mark.parametrize("text", [b"", b"[]", b'{"files": 1}', b"{}", b"[" * 100_000])
def test_a_list_that_cannot_be_read_is_a_fault(text: bytes) -> None:
    made = delivered({BUNDLE: text, "a.yaml": PACK})
    assert [one.code for one in made.faults] == ["RP911"]
    assert made.awaited == (BUNDLE,)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("rules/manufacturers/acme/pack.yaml", "ns/engine-pack-manufacturer-acme"),
        ("rules/extra/mine.yaml", "ns/engine-pack-extra-mine"),
        ("overlays/hall-7.yml", "ns/engine-overlay-hall-7"),
        ("pack.yaml", "ns/engine-pack-manufacturer-acme"),
    ],
)
def test_a_source_is_the_config_map_that_the_chart_makes(path: str, source: str) -> None:
    made = delivered({path: PACK}, origin="ns")
    assert made.source(made.packs[0], "manufacturer-acme") == source


def test_overlays_that_were_named_apply_and_those_among_the_packs_do_not() -> None:
    overlay = PackFiles("hall.yaml", (Source("hall.yaml", RENAMES),))
    packs = (PackFiles("a.yaml", (Source("a.yaml", b"kind: Derivation\n"),)), overlay)
    assert of_image(packs).overlays == ()
    assert of_image(packs[:1], [overlay]).overlays == (overlay,)
    assert of_image(packs[:1], [overlay]).digest != of_image(packs).digest
