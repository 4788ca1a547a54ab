"""Rules that are delivered while a worker runs: whatever comes, the old ones serve until better ones are in force."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cluster.resources import CONFIG_MAPS, RESOURCE_FLAVORS, RULE_PACKS
from tests.fakes.faults import Storm
from tests.fakes.virtual import run
from tests.unit.delivery.mounts import base, bundle, contents, version
from tests.unit.delivery.once import judge_once
from tests.unit.worker.live_rules import HEAD, LiveStage, delivered
from tests.unit.worker.stage import A10G, NAMESPACE

pytestmark = pytest.mark.living


@pytest.fixture(autouse=True)
def _judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_once(monkeypatch)


def test_what_is_mounted_at_the_first_start_is_in_force_and_published(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        book = stage.book()
        assert (book.origin, book.verdict) == ("mounted", "Loaded")
        assert stage.published()["program"] == book.digest
        assert stage.pack()["verdict"] == "Loaded"
        assert stage.pack()["program"] == book.digest
        assert stage.flavors()

    delivered(tmp_path, test)


def test_at_rest_nothing_is_written_about_rules(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        before = stage.server.writes()
        await stage.wait(300)
        assert stage.server.writes() == before

    delivered(tmp_path, test)


@pytest.mark.parametrize(
    ("name", "says"), [("broken", "RP1"), ("half", "RP"), ("red", "RP701"), ("big", "RP801"), ("empty", "RP911")]
)
def test_a_delivery_that_cannot_serve_disturbs_nothing_and_says_why(tmp_path: Path, name: str, says: str) -> None:
    async def test(stage: LiveStage) -> None:
        book, digest = stage.book(), stage.book().digest
        before = stage.flavors(), stage.node_labels(), dict(stage.published())
        await stage.deliver(name, 40)
        assert (book.verdict, book.digest, book.swaps) == ("Failed", digest, 0)
        assert (stage.flavors(), stage.node_labels(), stage.published()) == before
        status = stage.pack()
        assert says in status["message"]
        if name != "empty":
            assert status["verdict"] == "Failed"
            assert [each["note"] for each in stage.events("RulesRefused") if each["regarding"]["kind"] == "RulePack"]
        assert any(each["regarding"]["name"] == HEAD for each in stage.events("RulesRefused"))
        assert any("rules refused" in line for line in stage.lines)
        await stage.deliver("base")
        assert (book.verdict, stage.pack()["verdict"], book.digest) == ("Loaded", "Loaded", digest)

    delivered(tmp_path, test)


def test_a_change_that_renames_nothing_is_in_force_at_once(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        book, digest, flavors = stage.book(), stage.book().digest, stage.flavors()
        await stage.deliver("newer")
        assert (book.verdict, book.swaps) == ("Loaded", 1)
        assert book.digest != digest
        assert stage.published()["program"] == book.digest
        assert stage.flavors() == flavors
        assert {each["regarding"]["kind"] for each in stage.events("RulesLoaded")} == {"ConfigMap"}

    delivered(tmp_path, test)


def test_a_card_that_would_be_called_otherwise_holds_the_delivery(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        book, digest = stage.book(), stage.book().digest
        before = stage.flavors(), stage.node_labels()
        await stage.deliver("renames", 60)
        assert (book.verdict, book.digest) == ("Held", digest)
        assert (stage.flavors(), stage.node_labels()) == before
        assert "AcceleratorKey nvidia-a10g -> nvidia-other-card" in book.message.lower().replace(
            "acceleratorkey", "AcceleratorKey"
        )
        assert f"engine rules approve {book.waiting}" in stage.pack()["message"]
        assert stage.published()["waiting"] == book.waiting
        kinds = {lost.kind for lost in book.standing.verdict.lost}
        assert kinds == {"AcceleratorKey", "ResourceFlavor", "InstanceType", "LocalQueue"}
        await stage.approve("0" * 64)
        await stage.wait(60)
        assert (book.verdict, book.digest) == ("Held", digest)
        waited = book.waiting
        await stage.approve(waited)
        await stage.wait(5)
        assert (book.verdict, book.digest, book.waiting) == ("Loaded", waited, "")
        assert stage.published()["program"] == waited
        assert stage.published()["waiting"] == ""
        assert stage.pack()["verdict"] == "Loaded"

    delivered(tmp_path, test)


def other_flavors() -> dict[str, bytes]:
    """The flavors of all nodes are called otherwise, and the tests of the pack know it."""
    home = "rules/derive/flavor/"
    return {
        path: data.replace(b"gpustack--", b"site--") if path.startswith(home) else data for path, data in base().items()
    }


def test_flavors_have_their_new_names_only_after_an_approval(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        book, old = stage.book(), stage.flavors()
        await stage.deliver(other_flavors(), 60)
        assert (book.verdict, stage.flavors()) == ("Held", old)
        assert f"ResourceFlavor {old[0]} -> {old[0].replace('gpustack--', 'site--')}" in book.message
        await stage.approve(book.waiting)
        await stage.wait(30)
        assert stage.flavors() == [name.replace("gpustack--", "site--") for name in old]

    delivered(tmp_path, test)


def test_a_hold_outlives_restarts_and_is_the_next_leaders_too(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        old, digest = stage.flavors(), stage.book().digest
        await stage.deliver(other_flavors(), 30)
        waited = stage.book().waiting
        since = stage.pack("derivation-flavor")["lastTransitionTime"]
        for name in ("second", "third"):
            await stage.stop(stage_name(stage))
            await stage.begin(name)
            assert (stage.book(name).origin, stage.book(name).digest) == (HEAD, digest)
            await stage.wait(30)
            assert (stage.book(name).verdict, stage.book(name).waiting) == ("Held", waited)
            assert stage.flavors() == old
            assert stage.pack("derivation-flavor")["lastTransitionTime"] == since
        await stage.approve(waited)
        await stage.wait(30)
        assert stage.book("third").digest == waited
        await stage.stop("third")
        await stage.begin("fourth")
        assert stage.book("fourth").digest == waited

    delivered(tmp_path, test)


def stage_name(stage: LiveStage) -> str:
    return next(iter(stage.workers))


def test_what_waits_does_not_slip_in_when_the_published_packs_are_gone(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        digest = stage.book().digest
        await stage.deliver(other_flavors(), 30)
        await stage.stop()
        await stage.admin.delete(CONFIG_MAPS, f"{HEAD}-derivation-flavor", NAMESPACE)
        await stage.begin()
        assert (stage.book().origin, stage.book().digest) == ("image", digest)
        await stage.wait(30)
        assert stage.book().verdict == "Held"
        assert stage.server.get(CONFIG_MAPS, f"{HEAD}-derivation-flavor", NAMESPACE) is not None

    delivered(tmp_path, test)


def test_of_a_hundred_swaps_in_ten_seconds_the_last_serves_and_none_is_half_in_force(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        book, digest, labels = stage.book(), stage.book().digest, stage.node_labels()
        for number in range(100):
            files = (
                version(base(), f"1.1.{number}")
                if number % 3
                else contents(("broken", "empty", "renames")[number % 4 % 3])
            )
            await stage.deliver(files, 0.1)
            assert book.digest == digest
        await stage.deliver(version(base(), "2.0.0"))
        assert book.verdict == "Loaded"
        assert {pack.version for pack in book.program.packs if pack.name == "nvidia"} == {"2.0.0"}
        assert (book.swaps, book.verdicts["Held"], stage.published()["program"]) == (1, 0, book.digest)
        assert stage.node_labels() == labels

    delivered(tmp_path, test)


def test_half_a_volume_is_waited_for(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        book, whole = stage.book(), bundle(version(base(), "1.1.0"))
        part = {path: data for path, data in whole.items() if not path.startswith("rules/derive/pool")}
        await stage.deliver(part, 10)
        assert (book.verdict, book.verdicts["Failed"]) == ("Loaded", 0)
        await stage.deliver(whole)
        assert (book.swaps, book.verdicts["Failed"]) == (1, 0)

    delivered(tmp_path, test)


def test_settings_and_rules_change_together(tmp_path: Path) -> None:
    files = version(base(), "1.1.0")
    pack = "rules/derive/settings/pack.yaml"
    more = b"  settings:\n    - {name: hall, type: string, default: north, help: Where the nodes stand.}\n"
    files[pack] = files[pack].replace(b"  settings:\n", more, 1)

    async def test(stage: LiveStage) -> None:
        note = "note.gpustack.ai/cpuDetail"
        flavor = A10G[0]
        await stage.set(instance_type_aware_cpu_manufacturer="true", hall="south")
        await stage.deliver(files)
        rules = stage.workers["engine"][0].stage.rules
        assert rules.program.digest == stage.book().digest
        assert (rules.settings["hall"], rules.settings["instanceTypeAwareCpuManufacturer"]) == ("south", True)
        assert note in stage.server.get(RESOURCE_FLAVORS, flavor)["metadata"]["annotations"]
        await stage.set(instance_type_aware_cpu_manufacturer="false")
        await stage.deliver("base", 10)
        assert "hall" not in rules.settings
        assert note not in stage.server.get(RESOURCE_FLAVORS, flavor)["metadata"]["annotations"]
        assert stage.stored()["hall"] == "south"

    delivered(tmp_path, test)


def test_every_replica_answers_by_what_is_published(tmp_path: Path) -> None:
    async def main() -> None:
        stage = LiveStage(tmp_path)
        stage.kubelet.swap(contents("base"))
        await stage.play()
        await stage.begin("one", is_elected=True)
        await stage.wait(5)
        await stage.begin("two", is_elected=True)
        await stage.wait(20)
        one, two = stage.book("one"), stage.book("two")
        await stage.deliver("newer")
        assert one.digest == two.digest
        assert (one.verdict, two.verdict, two.swaps) == ("Loaded", "", 1)
        assert stage.workers["two"][0].stage.rules.program.digest == one.digest
        await stage.deliver(other_flavors(), 30)
        assert (one.verdict, two.digest) == ("Held", one.digest)
        await stage.stop("one")
        await stage.wait(60)
        assert (two.verdict, two.waiting) == ("Held", one.waiting)
        assert not [seen for seen in stage.server.writes("two") if "engine-program" in seen.path]
        await stage.end()

    run(main())


def test_rules_are_in_force_only_once_they_are_published(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        book, digest = stage.book(), stage.book().digest
        stage.server.faults.storm = Storm(
            500, selects=lambda request: request.method == "PATCH" and "configmaps" in request.path
        )
        await stage.deliver("newer", 60)
        assert book.digest == digest
        assert stage.published()["program"] == digest
        stage.server.faults.storm = None
        await stage.wait(60)
        assert book.digest != digest
        assert stage.published()["program"] == book.digest

    delivered(tmp_path, test)


def test_what_people_change_of_the_published_is_put_right(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        name = f"{HEAD}-manufacturer-nvidia"
        whole = stage.server.get(CONFIG_MAPS, name, NAMESPACE)["data"]
        await stage.admin.delete(CONFIG_MAPS, name, NAMESPACE)
        await stage.admin.delete(RULE_PACKS, "manufacturer-nvidia")
        (key,) = stage.server.get(CONFIG_MAPS, f"{HEAD}-derivation-pool", NAMESPACE)["data"]
        await stage.admin.merge_patch(
            CONFIG_MAPS, f"{HEAD}-derivation-pool", {"data": {key: "{}"}}, manager="kubectl", namespace=NAMESPACE
        )
        await stage.wait(5)
        assert stage.server.get(CONFIG_MAPS, name, NAMESPACE)["data"] == whole
        assert stage.server.get(CONFIG_MAPS, f"{HEAD}-derivation-pool", NAMESPACE)["data"][key] != "{}"
        assert stage.pack()["verdict"] == "Loaded"
        await stage.admin.delete(CONFIG_MAPS, HEAD, NAMESPACE)
        await stage.wait(5)
        assert stage.published()["program"] == stage.book().digest

    delivered(tmp_path, test)


def test_without_a_mount_the_packs_of_the_image_are_judged_as_a_delivery(tmp_path: Path) -> None:
    async def test(stage: LiveStage) -> None:
        await stage.deliver(other_flavors(), 30)
        await stage.approve(stage.book().waiting)
        await stage.wait(30)
        approved = stage.book().digest
        await stage.stop()
        await stage.begin(has_mount=False)
        assert stage.book().digest == approved
        await stage.wait(30)
        assert (stage.book().verdict, stage.book().digest) == ("Held", approved)
        assert stage.pack("derivation-flavor")["program"] == stage.book().waiting

    delivered(tmp_path, test)


def test_packs_that_link_but_lack_what_the_workers_code_needs_are_refused(tmp_path: Path) -> None:
    files = {
        path: data.replace(b"    note: note.gpustack.ai/", b"    remark: note.gpustack.ai/")
        for path, data in base().items()
    }

    async def test(stage: LiveStage) -> None:
        await stage.deliver(files, 30)
        assert stage.book().verdict == "Failed"
        assert stage.flavors()

    delivered(tmp_path, test)


def test_a_real_swap_is_seen_and_judged_in_a_thread_while_the_loop_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        stage = LiveStage(tmp_path)
        stage.kubelet.swap(contents("base"))
        await stage.play()
        await stage.begin(is_real=True)
        book = stage.book()
        await until(lambda: book.verdict == "Loaded")
        turned: list[None] = []
        watching = asyncio.create_task(turns(turned))
        stage.kubelet.swap(version(base(), "9.9.9"))
        await until(lambda: book.swaps == 1)
        watching.cancel()
        assert stage.published()["program"] == book.digest
        # On the loop, linking and testing would be one turn of some seconds.
        assert len(turned) > 10
        await stage.end()

    asyncio.run(main())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - a worker has no event for a test
            await asyncio.sleep(0.05)


async def turns(turned: list[None]) -> None:
    """One entry a turn of the loop, ten milliseconds apart at least."""
    while True:
        await asyncio.sleep(0.01)
        turned.append(None)
