"""The cache of binaries: what names a folder, who may build, and what a failed build says."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.cluster import binaries
from tests.cluster.errors import ClusterError, MissingError

FAKE_GO = """#!/bin/sh
case "$1" in
env) echo go9.9.9 ;;
mod) echo '{"Dir": "%(kueue)s"}' ;;
build)
  for last in "$@"; do :; done
  echo "package/of/$last"
  case "$last" in *"%(broken)s"*) echo "it is broken" >&2; exit 1;; esac
  while [ "$1" != "-o" ]; do shift; done
  echo "$last" >> "%(log)s"; sleep 0.05; echo binary > "$2" ;;
esac
"""


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A `go` that builds text files; broken for whatever tool is named."""
    kueue = tmp_path / "kueue"
    for folder in ("crd/bases", "webhook"):
        (kueue / "config" / "components" / folder).mkdir(parents=True)
    (kueue / "config/components/crd/bases/one.yaml").write_text("kind: CustomResourceDefinition\n")
    (kueue / "config/components/webhook/manifests.yaml").write_text("---\nkind: Hooks\n---\nkind: MoreHooks\n")
    commands = tmp_path / "bin"
    commands.mkdir()
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.setenv("ENGINE_CLUSTER_CACHE", str(tmp_path / "cache"))

    def install(broken: str = "nothing at all") -> Path:
        file = commands / "go"
        file.write_text(FAKE_GO % {"kueue": kueue, "broken": broken, "log": tmp_path / "built"})
        file.chmod(0o755)
        return tmp_path / "built"

    install()
    return install


def test_binaries_are_built_once_and_kueues_files_lie_beside_them(go) -> None:
    built = go()
    said: list[str] = []
    made = binaries.build(said.append)
    assert made.missing() == []
    assert built.read_text().split() == list(binaries.TOOLS.values())
    assert made.kueue_webhooks.read_text() == '[{"kind": "Hooks"}, {"kind": "MoreHooks"}]'
    assert binaries.build(said.append) == made
    assert len(built.read_text().split()) == len(binaries.TOOLS)


def test_a_failed_build_names_the_tool_and_ends_with_its_log(go) -> None:
    go("cmd/kube-scheduler")
    with pytest.raises(ClusterError, match=r"kube-scheduler does not build[\s\S]*it is broken"):
        binaries.build(lambda _line: None)
    left = binaries.find()
    assert left.missing() == ["kube-scheduler", "kueue", "kueue-crds.json", "kueue-webhooks.json"]
    assert not [each for each in left.folder.iterdir() if each.name.startswith(".")]


def test_two_builders_do_not_build_twice(go) -> None:
    built = go()
    said: list[str] = []
    builders = [threading.Thread(target=binaries.build, args=(said.append,)) for _ in range(3)]
    for each in builders:
        each.start()
    for each in builders:
        each.join()
    assert len(built.read_text().split()) == len(binaries.TOOLS)
    assert any("waiting" in line for line in said)


def test_without_go_the_kept_binaries_serve_and_otherwise_it_is_said(go, monkeypatch: pytest.MonkeyPatch) -> None:
    made = binaries.build(lambda _line: None)
    monkeypatch.setenv("PATH", "/nowhere")
    assert binaries.find() == made
    made.path("etcd").unlink()
    with pytest.raises(MissingError, match="no `go` on PATH"):
        binaries.build(lambda _line: None)


def test_another_pin_is_another_folder(go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = binaries.find().folder
    module = tmp_path / "module"
    module.mkdir()
    for name in ("go.mod", "go.sum"):
        (module / name).write_bytes((binaries.MODULE / name).read_bytes())
    monkeypatch.setattr(binaries, "MODULE", module)
    assert binaries.find().folder == before
    (module / "go.sum").write_text("another\n")
    assert binaries.find().folder != before
