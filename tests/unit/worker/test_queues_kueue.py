"""What the running Kueue charges, against what the rules say: read from its configuration, told, never written."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from ruamel.yaml import YAML

from charts import build
from engine.cluster.actions import Apply, EmitEvent, ObjectReference
from engine.cluster.objects import Owned
from engine.cluster.resources import ADMISSION_CHECKS, CONFIG_MAPS, ObjectKey
from engine.errors import EvaluationError
from engine.sections.resources import Transformation
from engine.worker.controllers import admissioncheck, kueueconfig
from engine.worker.controllers.admissioncheck import CheckNeighbourhood
from engine.worker.controllers.kueueconfig import Uncharged, running_transformations, uncharged
from tests.fakes.faults import Storm
from tests.unit.worker.queues_stage import A10G, T4, QueueStage, with_kueue

pytestmark = pytest.mark.living

NOW = "2026-11-29T12:00:00Z"
TEXT = """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources:
  transformations:
    - input: acme.com/gpu
      strategy: Replace
      outputs:
        credits.gpustack.ai/acme: "1600k"
    - input: acme.com/gpu.sliced.units
      strategy: Replace
      multiplyBy: acme.com/gpu.sliced
      outputs: {credits.gpustack.ai/acme: "1"}
"""
WHOLE = Transformation("acme.com/gpu", (("credits.gpustack.ai/acme", 1_600_000),))
SLICED = Transformation("acme.com/gpu.sliced.units", (("credits.gpustack.ai/acme", 1),), "acme.com/gpu.sliced")


def shipped() -> str:
    values = YAML(typ="safe").load((build.CHART / "values.yaml").read_text("utf-8"))
    text: str = values["kueue"]["managerConfig"]["controllerManagerConfigYaml"]
    return text


# Comparing


def test_a_kueue_that_charges_as_the_rules_say_is_well_however_it_writes_amounts() -> None:
    assert uncharged(running_transformations(TEXT), {"acme": [WHOLE, SLICED]}) == ()


@pytest.mark.parametrize(
    ("was", "now", "wrong", "why"),
    [
        ("input: acme.com/gpu\n", "input: acme.com/xpu\n", "acme.com/gpu", "uncharged: the running Kueue has no transformation for it"),
        ('"1600k"', '"16"', "acme.com/gpu", "at another price: 16 credits.gpustack.ai/acme instead of 1600000 credits.gpustack.ai/acme"),
        ("      multiplyBy: acme.com/gpu.sliced\n", "", "acme.com/gpu.sliced.units", "at another price: multiplied by nothing, not acme.com/gpu.sliced"),
        ('/acme: "1600k"', '/other: "1600k"', "acme.com/gpu", "at another price: 1600k credits.gpustack.ai/other instead of 1600000 credits.gpustack.ai/acme"),
    ],
    ids=["absent", "amount", "multiplier", "output"],
)  # fmt: skip
def test_each_difference_is_named(was: str, now: str, wrong: str, why: str) -> None:
    text = TEXT.replace(was, now, 1)
    assert text != TEXT
    assert uncharged(running_transformations(text), {"acme": [WHOLE, SLICED]}) == (Uncharged("acme", wrong, why),)


def test_a_configuration_without_transformations_charges_nothing() -> None:
    for text in ("kind: Configuration\n", "resources: {}\n", "resources:\n  transformations: []\n"):
        assert [each.input for each in uncharged(running_transformations(text), {"acme": [WHOLE]})] == ["acme.com/gpu"]


@pytest.mark.parametrize("text", ["", "a: [", "a: &x 1\nb: *x\n", "a: 1\n---\nb: 2\n", "a: " + "[" * 2000])
def test_a_text_that_cannot_be_read_without_doubt_is_not_taken_for_an_empty_one(text: str) -> None:
    with pytest.raises(EvaluationError, match="Kueue's configuration cannot be read"):
        running_transformations(text)


def test_trouble_is_told_at_each_type_of_the_maker_with_a_remedy() -> None:
    subject = ObjectReference("worker.gpustack.ai/v1", "InstanceType", ObjectKey("", "t"))
    (event,) = kueueconfig.plan([Uncharged("acme", "acme.com/gpu", "uncharged")], {"acme": [subject], "other": []})
    assert isinstance(event, EmitEvent)
    assert (event.regarding, event.reason) == (subject, "Uncharged")
    assert event.note == (
        'requests of "acme.com/gpu" would be admitted uncharged; '
        "add it to resources.transformations of Kueue's configuration, and restart Kueue"
    )


# On a cluster


def kueue_lines(stage: QueueStage) -> list[str]:
    return [line for line in stage.lines if " kueue " in line]


async def configure(stage: QueueStage, text: str, namespace: str = "gpustack-system") -> None:
    body = CONFIG_MAPS.body("kueue-manager-config", namespace, data={"controller_manager_config.yaml": text})
    await stage.admin.apply(CONFIG_MAPS, body, manager="helm")


def test_the_shipped_configuration_is_all_that_the_walkthrough_needs() -> None:
    async def test(stage: QueueStage) -> None:
        await configure(stage, shipped())
        (line,) = kueue_lines(stage)
        assert "could not tell what Kueue charges" in line
        await stage.wait(1300)
        assert "requests are charged as the rules say" in kueue_lines(stage)[-1]
        assert len(kueue_lines(stage)) == 2
        gets = len([seen for seen in stage.server.seen if "/configmaps/" in seen.path and seen.sender == "engine"])
        await stage.wait(3600)
        assert gets == len(
            [seen for seen in stage.server.seen if "/configmaps/" in seen.path and seen.sender == "engine"]
        )

    with_kueue(test)


def test_a_maker_that_kueue_does_not_know_is_told_once_at_its_types() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.namespace("kueue-system")
        await configure(stage, shipped().replace("nvidia.com/gpu.shared", "nvidia.com/gpu.divided"), "kueue-system")
        await stage.wait(2000)
        events = stage.events("Uncharged")
        assert sorted(event["regarding"]["name"] for event in events) == [A10G, T4]
        assert {event["note"].partition(";")[0] for event in events} == {
            'requests of "nvidia.com/gpu.shared" would be admitted uncharged: the running Kueue has no transformation for it'
        }
        assert "ConfigMap kueue-system/kueue-manager-config" in kueue_lines(stage)[-1]
        assert len(kueue_lines(stage)) == 2

    with_kueue(test)


def test_without_the_right_to_read_it_that_is_said_once_and_nothing_is_claimed() -> None:
    async def test(stage: QueueStage) -> None:
        stage.server.faults.storm = Storm(403, selects=lambda request: "/configmaps/" in request.path)
        await stage.stop()
        stage.lines.clear()
        stage.start("again")
        await stage.wait(3000)
        (line,) = kueue_lines(stage)
        assert "could not tell what Kueue charges" in line
        assert stage.events("Uncharged") == []

    with_kueue(test)


# The check


def check(**parts: Any) -> Owned:
    body = {
        "metadata": {"name": "c", "uid": "u", "generation": 1},
        "spec": {"controllerName": admissioncheck.CONTROLLER},
    }
    return msgspec.convert({**body, **parts}, Owned)


def test_the_check_is_made_then_said_to_be_active_and_its_time_is_kept() -> None:
    (made,) = admissioncheck.plan(CheckNeighbourhood("c", NOW))
    assert isinstance(made, Apply)
    assert made.body["spec"] == {"controllerName": "worker.gpustack.ai/node-devices"}
    _, said = admissioncheck.plan(CheckNeighbourhood("c", NOW, check()))
    assert isinstance(said, Apply)
    assert (said.manager, said.subresource) == ("gpustack-node-devices", "status")
    (condition,) = said.body["status"]["conditions"]
    assert (condition["status"], condition["lastTransitionTime"]) == ("True", NOW)
    live = check(status={"conditions": [condition]})
    assert admissioncheck.is_active(live)
    assert admissioncheck.plan(CheckNeighbourhood("c", NOW, live)) == [made]
    other = check(status={"conditions": [condition | {"message": "else", "lastTransitionTime": "earlier"}]})
    (_, again) = admissioncheck.plan(CheckNeighbourhood("c", NOW, other))
    assert isinstance(again, Apply)
    assert again.body["status"]["conditions"][0]["lastTransitionTime"] == "earlier"


def test_a_check_of_another_controller_is_told_and_one_that_ends_is_waited_for() -> None:
    (event,) = admissioncheck.plan(CheckNeighbourhood("c", NOW, check(spec={"controllerName": "x"})))
    assert isinstance(event, EmitEvent)
    assert event.reason == "CheckTaken"
    assert event.regarding.kind == ADMISSION_CHECKS.kind
    ending = check(metadata={"name": "c", "deletionTimestamp": NOW})
    assert admissioncheck.plan(CheckNeighbourhood("c", NOW, ending)) == []
