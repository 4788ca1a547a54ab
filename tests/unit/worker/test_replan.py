"""What other rules would call otherwise, asked of Nodes as a live cluster has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from engine.delivery.candidate import delivered
from engine.delivery.verdict import Lost
from engine.errors import EngineError
from engine.lang.linking import link
from engine.lang.program import Program
from engine.sections.catalog import CATALOGUE
from engine.worker.asking import SeenNode
from engine.worker.replan import Moment, fits
from tests.fakes.virtual import run
from tests.unit.delivery.mounts import MAKER, RENAMES, base
from tests.unit.worker.stage import Stage

pytestmark = pytest.mark.living

FLAVOR = "rules/derive/flavor/pack.yaml"


@cache
def settled() -> tuple[SeenNode, ...]:
    """The walkthrough's Nodes when a worker has labelled them."""

    async def main() -> tuple[SeenNode, ...]:
        stage = Stage()
        worker = stage.start()
        await stage.play()
        await stage.wait(30)
        fleet = worker.stage.fleet
        moment = Moment.of(fleet, None, {})
        await stage.end()
        return moment.nodes

    return run(main())


@cache
def program(path: str = "", old: bytes = b"", new: bytes = b"", *, overlay: bytes = b"") -> Program:
    files = base()
    if path:
        assert old in files[path]
        files[path] = files[path].replace(old, new)
    if overlay:
        files["overlays/one.yaml"] = overlay
    candidate = delivered(files)
    linked = link(candidate.packs, CATALOGUE, overlays=candidate.overlays)
    assert linked.program is not None, [str(each.message) for each in linked.diagnostics]
    return linked.program


def lost(new: Program, nodes: tuple[SeenNode, ...] | None = None) -> tuple[Lost, ...]:
    return Moment(settled() if nodes is None else nodes, None, {}).lost(program(), new)


def test_rules_that_name_alike_lose_nothing() -> None:
    assert lost(program(MAKER, b'version: "1.0.0"', b'version: "1.1.0"')) == ()
    assert lost(program(MAKER, b"slicesPerCard", b"slicesPerCard")) == ()


def test_a_card_called_otherwise_renames_all_that_is_named_after_it_and_nothing_else() -> None:
    found = lost(program(overlay=RENAMES))
    assert {each.kind for each in found} == {"AcceleratorKey", "ResourceFlavor", "InstanceType", "LocalQueue"}
    assert all("a10g" in each.old.lower() or each.kind == "LocalQueue" for each in found)
    assert all("other-card" in new for each in found for new in each.new if each.kind != "LocalQueue")


def test_flavors_called_otherwise_are_renamed_and_their_types_are_not() -> None:
    found = lost(program(FLAVOR, b"concat('gpustack--'", b"concat('site--'"))
    assert {each.kind for each in found} == {"ResourceFlavor"}
    assert {each.new for each in found} == {(each.old.replace("gpustack--", "site--"),) for each in found}


def test_a_resource_called_otherwise_is_told_once_for_each_of_its_names() -> None:
    found = lost(program(MAKER, b"resource: nvidia.com/gpu", b"resource: example.com/gpu"))
    renamed = {each.old: each.new for each in found if each.kind == "Resource"}
    assert "nvidia.com/gpu" in renamed
    assert all(each.kind == "Resource" for each in found)


def test_a_maker_that_is_gone_loses_its_cards_names() -> None:
    files = {
        path: data for path, data in base().items() if not path.startswith(("rules/manufacturers", "rules/library"))
    }
    linked = link(delivered(files).packs, CATALOGUE).program
    assert linked is not None
    found = lost(linked)
    assert Lost("AcceleratorKey", "nvidia-tesla-t4") in found
    assert any(each.kind == "ResourceFlavor" and each.new == () for each in found)


def test_cards_that_would_be_left_out_are_lost() -> None:
    found = lost(program(MAKER, b"contains(card.name, 'DGX Display')", b"contains(card.name, 'T4')"))
    assert Lost("AcceleratorKey", "nvidia-tesla-t4") in found


def test_cards_of_which_other_rules_could_not_tell_keep_their_product() -> None:
    unknown = b"        - {id: model-blind, when: has(card.name), unknown: nobody knows}\n        - id: model-display "
    assert lost(program(MAKER, b"        - id: model-display ", unknown)) == ()


def test_a_node_out_of_management_holds_nothing_by_its_cards() -> None:
    def unmanaged(node: SeenNode) -> SeenNode:
        return replace(node, labels={**node.labels, "gpustack.ai/managed": "false"})

    assert lost(program(overlay=RENAMES), tuple(map(unmanaged, settled()))) == ()


def test_a_cluster_without_nodes_holds_nothing() -> None:
    assert lost(program(overlay=RENAMES), ()) == ()


@pytest.mark.parametrize("changed", [lambda node: replace(node, cards=None)])
def test_labels_that_were_not_made_by_the_rules_in_force_stay_as_they_are(
    changed: Callable[[SeenNode], SeenNode],
) -> None:
    # No Devices: nobody can say what the cards would be called, and their labels stand.
    assert lost(program(overlay=RENAMES), tuple(map(changed, settled()))) == ()


def test_the_serving_program_is_not_asked_by_another_thread() -> None:
    serving = program()
    before = dict(serving._evaluators)
    Moment(settled(), None, {}).lost(serving, program(overlay=RENAMES))
    assert serving._evaluators == before


def test_stored_settings_are_those_of_both_sides() -> None:
    aware = {"instance-type-aware-cpu-manufacturer": "dHJ1ZQ=="}
    found = Moment(settled(), aware, {}).lost(program(), program(overlay=RENAMES))
    types = [each.old for each in found if each.kind == "InstanceType"]
    assert types
    assert all("amd-epyc" in name for name in types)


def test_a_program_without_what_code_goes_by_does_not_fit() -> None:
    fits(program(), {})
    bare = Program([pack for pack in program().packs if pack.name != "constants"], vocabulary=program().vocabulary)
    with pytest.raises(EngineError, match="derivation packs"):
        fits(bare, {})
    with pytest.raises(EngineError, match="node-management-manual"):
        fits(program(), {"GPUSTACK_NODE_MANAGEMENT_MANUAL": "perhaps"})


def test_the_shipped_rules_fit() -> None:
    from tests.unit.features.world import program as shipped

    fits(shipped(), {})
