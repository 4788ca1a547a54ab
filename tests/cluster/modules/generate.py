"""Writes the go.mod of the control plane; then `go mod tidy` in its folder pins the rest.

`k8s.io/kubernetes` names its staging modules at v0.0.0 and replaces them by folders that its published module lacks, so
each is mapped to the module of the same release. Run as `python -m tests.cluster.modules.generate` after changing a version.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Final

KUBERNETES: Final = "v1.36.3"
STAGING: Final = KUBERNETES.replace("v1.", "v0.", 1)
KUEUE: Final = "v0.19.1"
"""The first of this line that the module proxy serves with `quotaCheckStrategy`."""
ETCD: Final = "v3.6.16"
GO: Final = "1.26.0"

TOOLS: Final = (
    "go.etcd.io/etcd/server/v3",
    "k8s.io/kubernetes/cmd/kube-apiserver",
    "k8s.io/kubernetes/cmd/kube-controller-manager",
    "k8s.io/kubernetes/cmd/kube-scheduler",
    "k8s.io/kubernetes/cmd/kubectl",
    "k8s.io/kubernetes/cmd/kubelet",
    "sigs.k8s.io/kueue/cmd/kueue",
)
FOLDER: Final = Path(__file__).resolve().parent / "control-plane"


def go_mod(staging: list[str]) -> str:
    """The file. Shape: `staging` are module paths, sorted."""
    requires = {"k8s.io/kubernetes": KUBERNETES, "sigs.k8s.io/kueue": KUEUE, "go.etcd.io/etcd/server/v3": ETCD}
    return "\n".join(
        [
            "module engine-testbed/control-plane",
            "",
            f"go {GO}",
            *_block("tool", TOOLS),
            *_block("require", [f"{module} {version}" for module, version in requires.items()]),
            *_block("replace", [f"{module} => {module} {STAGING}" for module in staging]),
            "",
        ]
    )


def main() -> None:
    asked = ["go", "mod", "download", "-json", f"k8s.io/kubernetes@{KUBERNETES}"]
    told = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)
    published = Path(told["GoMod"]).read_text("utf-8")
    staging = sorted(set(re.findall(r"^\s*(k8s\.io/[a-z0-9-]+) => \./staging", published, re.MULTILINE)))
    (FOLDER / "go.mod").write_text(go_mod(staging), "utf-8")
    subprocess.run(["go", "mod", "tidy"], cwd=FOLDER, check=True)


def _block(keyword: str, lines: list[str] | tuple[str, ...]) -> list[str]:
    return ["", f"{keyword} (", *(f"\t{line}" for line in lines), ")"]


if __name__ == "__main__":
    main()
