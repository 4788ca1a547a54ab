"""`engine effective`: the pack that counts, each value with who gave it and where."""

from __future__ import annotations

import json

import pytest

from tests.behaviour.running import run

OVERLAY = "rules/overlays/examples/slices-per-card.yaml"


def test_a_value_of_an_overlay_names_the_overlay_and_its_line() -> None:
    made = json.loads(
        run("effective", "nvidia", "--overlay", OVERLAY, "--why", "params.slicesPerCard", "-o", "json").stdout
    )
    by_path = {each["path"]: each for each in made}
    assert by_path["params.slicesPerCard.default"]["layer"] == "overlay slices-per-card (site)"
    assert by_path["params.slicesPerCard.default"]["at"].startswith(f"{OVERLAY}:")
    assert by_path["params.slicesPerCard.type"]["layer"] == "pack"


def test_a_library_s_rules_are_in_the_pack_that_uses_it() -> None:
    listed = run("effective", "iluvatar", "--why", "sections.inject").stdout
    assert "sections.inject.rules.inject-visible.emit.env.IX_VISIBLE_DEVICES" in listed
    assert "library hami-core" in listed
    assert "rules/library/hami-core.yaml:" in listed


def test_an_override_of_the_environment_is_a_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSTACK_NVIDIA_ACCELERATABLE_RESOURCE_NAME", "site.example/gpu")
    made = json.loads(run("effective", "nvidia", "--why", "identity.resource", "-o", "json").stdout)
    assert [(each["value"], each["layer"]) for each in made] == [("site.example/gpu", "override")]


def test_a_pack_is_named_by_kind_or_by_path_too() -> None:
    named = run("effective", "derivation/topology").stdout
    assert named == run("effective", "topology").stdout
    assert named == run("effective", "rules/derive/topology").stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("nvida",), "did you mean nvidia?"),
        (("nvidia", "--why", "params.slicePerCard.default"), "did you mean params.slicesPerCard.default?"),
        (("rules/derive",), "one pack at a time"),
    ],
)
def test_what_is_not_there_is_met_with_the_nearest(args: tuple[str, ...], words: str) -> None:
    result = run("effective", *args)
    assert result.exit_code == 2
    assert words in result.stderr
