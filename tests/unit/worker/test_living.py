"""The worker over time: settings, definitions, rules that cannot tell, replicas, an API server in trouble."""

from __future__ import annotations

import pytest

from engine.api.crd import crd_documents
from engine.cluster.errors import Forbidden, NotLeader
from engine.cluster.resources import CRDS, RESOURCE_FLAVORS, SECRETS
from engine.errors import UsageError
from tests.fakes.faults import Storm
from tests.fakes.virtual import run
from tests.unit.worker.replaced import Replaced, unknown
from tests.unit.worker.stage import A10G, NAMESPACE, SETTINGS, SEVEN, Stage, played

pytestmark = pytest.mark.living

TOPOLOGY = "gpustack-fnv64-87bf574bea2a4f23"


def test_definitions_are_brought_and_an_absent_one_comes_back_but_a_changed_one_is_left() -> None:
    names = {each["metadata"]["name"] for each in crd_documents()}

    async def test(stage: Stage) -> None:
        assert stage.crds() == names
        await stage.admin.delete(CRDS, "devices.worker.gpustack.ai")
        await stage.admin.merge_patch(
            CRDS, "instances.worker.gpustack.ai", {"spec": {"scope": "Other"}}, manager="kubectl"
        )
        await stage.wait()
        assert stage.crds() == names
        assert stage.server.get(CRDS, "instances.worker.gpustack.ai")["spec"]["scope"] == "Other"
        await stage.stop()
        stage.start()
        await stage.wait()
        assert stage.server.get(CRDS, "instances.worker.gpustack.ai")["spec"]["scope"] == "Namespaced"

    played(test)


def test_settings_are_seeded_from_the_environment_once() -> None:
    async def test(stage: Stage) -> None:
        assert stage.stored()["node-management-manual"] == "true"
        assert stage.stored()["instance-type-mixed-on-node"] == "true"
        assert stage.flavors() == []
        assert all("gpustack.ai/managed" not in stage.labels(f"node-{end}") for end in ("cpu", "a10g"))
        await stage.stop()
        stage.start(environment={"GPUSTACK_NODE_MANAGEMENT_MANUAL": "false"})
        await stage.wait()
        assert stage.stored()["node-management-manual"] == "true"

    played(test, environment={"GPUSTACK_NODE_MANAGEMENT_MANUAL": "true"})


def test_a_variable_that_is_no_value_of_its_setting_stops_the_worker_with_its_name() -> None:
    async def main() -> None:
        with pytest.raises(UsageError, match="node-management-manual"):
            Stage().start(environment={"GPUSTACK_NODE_MANAGEMENT_MANUAL": "perhaps"})

    run(main())


def test_a_setting_acts_without_a_restart() -> None:
    async def test(stage: Stage) -> None:
        note = "note.gpustack.ai/cpuDetail"
        assert note not in stage.server.get(RESOURCE_FLAVORS, A10G[0])["metadata"]["annotations"]
        await stage.set(instance_type_aware_cpu_manufacturer="true")
        await stage.wait(5)
        assert note in stage.server.get(RESOURCE_FLAVORS, A10G[0])["metadata"]["annotations"]
        await stage.set(instance_type_aware_cpu_manufacturer="false")
        await stage.wait(5)
        assert note not in stage.server.get(RESOURCE_FLAVORS, A10G[0])["metadata"]["annotations"]

    played(test)


def test_turning_mixing_off_leaves_no_cpu_flavor_of_a_node_with_cards_and_makes_the_other_anew() -> None:
    async def test(stage: Stage) -> None:
        await stage.set(instance_type_mixed_on_node="false")
        await stage.wait(20)
        assert stage.flavors() == [SEVEN[0], SEVEN[1], SEVEN[3], SEVEN[4]]
        selector = stage.server.get(RESOURCE_FLAVORS, SEVEN[0])["spec"]["nodeLabels"]
        assert selector["feature.gpustack.ai/cpu-only"] == "true"
        assert stage.labels("node-cpu")["feature.gpustack.ai/cpu-only"] == "true"
        assert "feature.gpustack.ai/cpu-only" not in stage.labels("node-a10g")
        await stage.set(instance_type_mixed_on_node="true")
        await stage.wait(20)
        assert stage.flavors() == SEVEN

    played(test)


def test_a_setting_that_cannot_be_read_keeps_its_value_and_one_unknown_is_kept_and_told() -> None:
    async def test(stage: Stage) -> None:
        await stage.set(instance_type_mixed_on_node="maybe", no_such_setting="1")
        await stage.wait(20)
        assert stage.flavors() == SEVEN
        assert stage.stored()["no-such-setting"] == "1"
        (refused,) = stage.events("SettingRefused")
        assert "instance-type-mixed-on-node cannot be 'maybe'" in refused["note"]
        (unknown,) = stage.events("SettingUnknown")
        assert "no-such-setting" in unknown["note"]

    played(test)


def test_a_deleted_secret_is_seeded_again_and_what_was_set_stays_in_force_until_then() -> None:
    async def test(stage: Stage) -> None:
        await stage.admin.delete(SECRETS, SETTINGS.name, NAMESPACE)
        await stage.wait()
        assert stage.stored()["instance-type-mixed-on-node"] == "true"
        assert stage.flavors() == SEVEN

    played(test)


def test_what_rules_cannot_tell_any_more_leaves_flavors_as_they_are() -> None:
    async def test(stage: Stage) -> None:
        await stage.stop()
        stage.start(rules=Replaced(flavor=unknown))
        await stage.wait(60)
        assert stage.flavors() == SEVEN
        assert any(
            " condition object=" in line and "ResourceFlavor/" in line and "CouldNotTell" in line
            for line in stage.lines
        )
        await stage.stop()
        stage.start(rules=Replaced(contributes=unknown, cpu=unknown))
        await stage.wait(60)
        assert stage.flavors() == SEVEN
        assert stage.topologies() == [TOPOLOGY]

    played(test)


def test_a_cluster_that_refuses_ends_the_worker_and_one_that_only_starts_is_waited_for() -> None:
    async def main() -> None:
        stage = Stage()
        stage.server.faults.is_down = True
        stage.start()
        await stage.wait(60)
        stage.server.faults.is_down = False
        await stage.play()
        await stage.wait()
        assert stage.flavors() == SEVEN
        await stage.end()
        stage.server.faults.storm = Storm(403)
        stage.start("refused")
        await stage.wait(1)
        _, task = stage.workers.pop("refused")
        with pytest.raises(Forbidden):
            await task

    run(main())


def test_of_two_workers_one_leads_and_the_other_goes_on_where_it_stopped() -> None:
    async def main() -> None:
        stage = Stage()
        stage.start("one", is_elected=True)
        await stage.wait(1)
        stage.start("two", is_elected=True)
        await stage.play()
        await stage.wait()
        assert stage.flavors() == SEVEN
        assert [seen.path for seen in stage.server.writes("two")] == []
        await stage.stop("one")
        await stage.mark("node-a10g", "false")
        await stage.wait()
        assert stage.flavors() == [name for name in SEVEN if name not in A10G]
        await stage.end()

    run(main())


def test_a_worker_whose_lease_was_taken_stops_and_writes_nothing_more() -> None:
    async def main() -> None:
        stage = Stage()
        stage.start("one", is_elected=True)
        await stage.play()
        await stage.wait()
        _, task = stage.workers.pop("one")
        stage.server.faults.is_down = True
        await stage.wait(30)
        with pytest.raises(NotLeader):
            await task

    run(main())
