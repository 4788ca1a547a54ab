"""The library page is true: its program runs and prints what the page says."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_program_on_the_library_page_prints_what_the_page_says():
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)
    wanted = re.search(r"It prints `(.*?)`", page).group(1)
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, wanted, "")
