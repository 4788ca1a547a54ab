"""Fetches the official JMESPath compliance cases into the cache, through the Go toolchain's own download.

The cases are another project's files: cached, never committed. Run by `make compliance`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

# The version pins the cases; the Go checksum database answers for their content.
MODULE = "github.com/jmespath/go-jmespath@v0.4.0"
DEFAULT_CACHE = Path(__file__).resolve().parents[2] / ".cache" / "jmespath-compliance"
DOWNLOAD_TIMEOUT_SECONDS = 300


def cache_folder() -> Path:
    """Where the cases are looked for and put."""
    return Path(os.environ.get("ENGINE_COMPLIANCE_DIR") or DEFAULT_CACHE)


def fetch(target: Path) -> int:
    """Copy the cases to `target`; the number of files copied."""
    go = shutil.which("go")
    if go is None:
        raise SystemExit("fetch: the compliance cases come through the Go toolchain, and there is no `go` on PATH")
    done = subprocess.run(
        [go, "mod", "download", "-json", MODULE],
        capture_output=True,
        text=True,
        check=False,
        timeout=DOWNLOAD_TIMEOUT_SECONDS,
    )
    answer = json.loads(done.stdout or "{}")
    if done.returncode != 0 or "Dir" not in answer:
        raise SystemExit(f"fetch: go mod download {MODULE} failed: {answer.get('Error') or done.stderr.strip()}")
    files = sorted((Path(answer["Dir"]) / "compliance").glob("*.json"))
    target.mkdir(parents=True, exist_ok=True)
    for file in files:
        (target / file.name).write_bytes(file.read_bytes())
    return len(files)


if __name__ == "__main__":
    folder = cache_folder()
    sys.stdout.write(f"{fetch(folder)} files of {MODULE} are in {folder}\n")
