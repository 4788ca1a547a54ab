"""What a machine lacks is said in words, and decides between skipping and failing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.layout import REPOSITORY
from tests.cluster.needs import missing_to_build, missing_to_run


def test_what_is_missing_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    lacks = "\n".join(missing_to_run() + missing_to_build())
    for word in ("unshare", "util-linux", "openssl", "root", "`go`"):
        assert word in lacks


@pytest.mark.parametrize(("ci", "code"), [("", 77), ("true", 1)])
def test_a_tier_that_cannot_run_is_skipped_on_a_laptop_and_fails_in_ci(tmp_path: Path, ci: str, code: int) -> None:
    env = {**os.environ, "PATH": "/nowhere", "CI": ci, "ENGINE_CLUSTER_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.cluster", "build"],
        cwd=REPOSITORY,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert done.stderr == "tests.cluster: there is no `go` on PATH (Go 1.26 or newer builds the control plane)\n"
