"""Every file of the reload corpus, step by step: a kubelet, a worker and a clock that jumps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from engine.delivery.directory import reload_fault
from engine.lang.reader import read
from engine.lang.source import Source
from engine.lang.tree import plain
from tests.fakes.virtual import VirtualClock, run
from tests.unit.delivery.living import Worker
from tests.unit.delivery.mounts import Kubelet, contents

CORPUS = Path(__file__).parents[2] / "corpus" / "reload"
FILES = sorted(path.name for path in CORPUS.glob("*.yaml"))


def load(name: str) -> dict[str, Any]:
    documents, diagnostics = read(Source(name, (CORPUS / name).read_bytes()))
    assert [f"{name}: {found.message}" for found in diagnostics] == []
    return dict(plain(documents[0].root))


def test_the_rows_about_delivery_have_a_file_each() -> None:
    assert [load(name)["row"] for name in FILES] == [53, 54, 55, 56, 57, 58]
    assert [name.split("-")[0] for name in FILES] == ["53", "54", "55", "56", "57", "58"]


@pytest.mark.parametrize("name", FILES)
def test_a_story_of_deliveries_goes_as_it_is_told(name: str, tmp_path: Path) -> None:
    async def story() -> None:
        kubelet, worker = Kubelet(tmp_path), Worker(tmp_path)
        for number, step in enumerate(load(name)["steps"]):
            await take(step, kubelet, worker)
            check(step, worker, tmp_path, f"{name}, step {number}")
        await worker.stop()

    run(story())


async def take(step: dict[str, Any], kubelet: Kubelet, worker: Worker) -> None:
    if "dangle" in step:
        (kubelet.mount / "..data").symlink_to("..2026_not_there")
    if "swap" in step:
        kubelet.swap(contents(step["swap"]))
    if "put" in step:
        kubelet.put(contents(step["put"]))
    if step.get("oldest"):
        for path in (kubelet.mount / "..data").rglob("*"):
            os.utime(path, (0, 0))
    if "restart" in step:
        await worker.stop()
    if "start" in step or "restart" in step:
        worker.start()
    if step.get("stir"):
        worker.stir()
    if "wait" in step:
        await VirtualClock().sleep(step["wait"])


def check(step: dict[str, Any], worker: Worker, mount: Path, at: str) -> None:
    known = {"state": worker.state, "judged": worker.judged, "origin": worker.origin}
    if "version" in step:
        known["version"] = next(pack.version for pack in worker.serving.program.packs if pack.name == "nvidia")
    if "fault" in step:
        fault = reload_fault(mount)
        known["fault"] = "" if fault is None else fault.code
    if "pack" in step:
        known["pack"] = {name: worker.cluster.status(name)["verdict"] for name in step["pack"]}
    assert {key: step[key] for key in known if key in step} == {key: known[key] for key in known if key in step}, at
    assert worker.standing.verdict is None or step.get("says", "") in worker.standing.verdict.message, at
