"""A worker beside a kubelet on a virtual clock: many swaps, a hold across restarts, a real watcher."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

from engine.delivery import directory
from engine.delivery.directory import Mount, read_mount, reload_fault
from tests.fakes.virtual import VirtualClock, run
from tests.unit.delivery.living import Cluster, Worker
from tests.unit.delivery.mounts import Kubelet, base, bundle, contents, version


async def none(_path: Path) -> AsyncIterator[object]:
    await asyncio.Event().wait()
    yield None


def test_of_a_hundred_swaps_in_ten_seconds_the_last_one_serves(tmp_path: Path) -> None:
    async def story() -> None:
        kubelet, worker, files = Kubelet(tmp_path), Worker(tmp_path), base()
        kubelet.swap(files)
        worker.start()
        await VirtualClock().sleep(1)
        first = worker.serving.program.digest
        for number in range(100):
            kubelet.swap(version(files, f"1.1.{number}") if number % 3 else contents("broken"))
            worker.stir()
            await VirtualClock().sleep(0.1)
            assert worker.serving.program.digest == first  # never at rest: what serves goes on
        await VirtualClock().sleep(2)
        assert worker.state == "Failed"
        kubelet.swap(version(files, "2.0.0"))
        worker.stir()
        await VirtualClock().sleep(1)
        assert worker.state == "Loaded"
        assert worker.serving.program.pack("model", "nvidia") is not None
        assert {pack.version for pack in worker.serving.program.packs if pack.name == "nvidia"} == {"2.0.0"}
        assert worker.judged == 3
        await worker.stop()

    run(story())


def test_a_rename_is_held_across_restarts_until_it_is_approved(tmp_path: Path) -> None:
    async def story() -> None:
        kubelet, worker = Kubelet(tmp_path), Worker(tmp_path)
        kubelet.swap(contents("base"))
        worker.start()
        await VirtualClock().sleep(1)
        served = worker.serving.program.digest
        kubelet.swap(contents("renames"))
        worker.stir()
        await VirtualClock().sleep(1)
        assert worker.state == "Held"
        assert worker.cluster.status("manufacturer-nvidia")["verdict"] == "Held"
        for _ in range(2):
            await worker.stop()
            worker.start()
            assert worker.origin == "engine-program"
            assert worker.serving.program.digest == served
            await VirtualClock().sleep(1)
            assert (worker.state, worker.serving.program.digest) == ("Held", served)
        worker.approve()
        assert worker.state == "Loaded"
        renamed = worker.serving.program.digest
        assert renamed != served
        assert {status["verdict"] for status in worker.cluster.statuses().values()} == {"Loaded"}
        await worker.stop()
        worker.start()
        assert worker.serving.program.digest == renamed
        await worker.stop()

    run(story())


def test_a_second_worker_with_lost_packs_passes_over_what_waits(tmp_path: Path) -> None:
    async def story() -> None:
        kubelet, cluster = Kubelet(tmp_path), Cluster()
        worker = Worker(tmp_path, cluster)
        kubelet.swap(contents("base"))
        worker.start()
        await VirtualClock().sleep(1)
        served = worker.serving.program.digest
        kubelet.swap(contents("renames"))
        worker.stir()
        await VirtualClock().sleep(1)
        await worker.stop()
        del cluster.maps["engine-program-manufacturer-nvidia"]
        worker.start()
        assert (worker.origin, worker.serving.program.digest) == ("image", served)
        await VirtualClock().sleep(1)
        assert worker.state == "Held"
        await worker.stop()

    run(story())


def test_an_incomplete_delivery_is_waited_for_and_then_refused(tmp_path: Path) -> None:
    async def story() -> None:
        kubelet, worker, files = Kubelet(tmp_path), Worker(tmp_path), bundle(base())
        kubelet.swap(files)
        worker.start()
        await VirtualClock().sleep(1)
        part = {path: data for path, data in files.items() if not path.startswith("rules/derive/pool")}
        kubelet.swap(part)
        worker.stir()
        await VirtualClock().sleep(20)
        assert worker.state == "Loaded"
        await VirtualClock().sleep(20)
        assert worker.state == "Failed"
        assert "RP911" in worker.cluster.status("derivation-pool")["message"]
        kubelet.swap(files)
        worker.stir()
        await VirtualClock().sleep(1)
        assert worker.state == "Loaded"
        await worker.stop()

    run(story())


def test_a_directory_that_is_swapped_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: object) -> None:
    kubelet = Kubelet(tmp_path)
    kubelet.swap({"a.yaml": b"1", "b/pack.yaml": b"2"})
    real, calls = directory._real, []

    def swapped_away(mount: Path) -> Path:
        found = real(mount)
        if not calls:
            kubelet.swap({"a.yaml": b"3"})
        calls.append(found)
        return found

    monkeypatch.setattr(directory, "_real", swapped_away)  # type: ignore[attr-defined]
    made = read_mount(tmp_path)
    assert [source.data for group in made.packs for source in group.sources] == [b"3"]
    assert len(calls) == 2


def test_what_cannot_be_read_is_told_and_nothing_is_raised(tmp_path: Path) -> None:
    assert [one.code for one in read_mount(tmp_path / "nowhere").faults] == ["RP911"]
    (tmp_path / "file").write_bytes(b"")
    assert [one.code for one in read_mount(tmp_path / "file").faults] == ["RP911"]
    deep = tmp_path / "deep" / "/".join("abcdefghijk")
    deep.mkdir(parents=True)
    assert [one.message for one in read_mount(tmp_path / "deep").faults] == ["folders are nested too deep"]


def test_pipes_and_hidden_files_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / ".hidden.yaml").write_bytes(b"1")
    assert read_mount(tmp_path).packs == ()


def test_a_swap_needs_the_kubelets_link(tmp_path: Path) -> None:
    fault = reload_fault(tmp_path)
    assert fault is not None
    assert fault.code == "RP910"
    Kubelet(tmp_path).swap({"a.yaml": b"1"})
    assert reload_fault(tmp_path) is None


def test_paths_stay_the_same_from_swap_to_swap(tmp_path: Path) -> None:
    kubelet = Kubelet(tmp_path)
    kubelet.swap({"a/pack.yaml": b"1"})
    before = read_mount(tmp_path)
    kubelet.swap({"a/pack.yaml": b"1"})
    assert read_mount(tmp_path) == before
    assert [source.path for source in before.packs[0].sources] == ["a/pack.yaml"]


def test_a_watch_that_ends_is_begun_again_and_the_slow_look_goes_on(tmp_path: Path) -> None:
    async def story() -> None:
        begun = []

        async def failing(path: Path) -> AsyncIterator[object]:
            begun.append(path)
            raise OSError("no more watches")
            yield

        kubelet = Kubelet(tmp_path)
        kubelet.swap({"a.yaml": b"1"})
        found = Mount(tmp_path, clock=VirtualClock(), events=failing).deliveries()
        first = await anext(found)
        kubelet.swap({"a.yaml": b"2"})
        assert (await anext(found)).digest != first.digest
        assert len(begun) >= 2
        await found.aclose()

    run(story())


def test_a_real_watcher_sees_a_real_swap(tmp_path: Path) -> None:
    async def story() -> None:
        kubelet = Kubelet(tmp_path)
        kubelet.swap({"a/pack.yaml": b"0"})
        found = Mount(tmp_path).deliveries()
        seen = [await anext(found)]
        for number in range(1, 4):
            kubelet.swap({"a/pack.yaml": f"{number}".encode()})
            seen.append(await asyncio.wait_for(anext(found), 20))
        assert [one.packs[0].sources[0].data for one in seen] == [b"0", b"1", b"2", b"3"]
        await found.aclose()

    asyncio.run(story())
