"""What a machine must have before the testbed can run on it, said in words.

A tier that cannot run fails in continuous integration and is skipped elsewhere; who decides that is `fixtures` and the
command line.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import Final

COMMANDS: Final = {
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "openssl": "openssl",
}


def missing_to_build() -> list[str]:
    """What building the control plane lacks."""
    if shutil.which("go") is None:
        return ["there is no `go` on PATH (Go 1.26 or newer builds the control plane)"]
    return []


def missing_to_run() -> list[str]:
    """What running it lacks, binaries left out."""
    if sys.platform != "linux":
        return [f"the testbed needs Linux namespaces, this is {sys.platform}"]
    lacks = [
        f"there is no `{command}` on PATH (package {package})"
        for command, package in COMMANDS.items()
        if shutil.which(command) is None
    ]
    if os.geteuid() != 0:
        lacks.append("the testbed makes network, mount and process namespaces and needs root for that")
    return lacks


def in_ci() -> bool:
    """Whether this is continuous integration, where nothing is skipped."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")
