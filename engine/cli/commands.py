"""The list of commands: names, what each is for in one line, and the module that holds it.

Plain data, so that `engine --help` imports no command. Each module has a click command called `command`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PROGRAM: Final = "engine"
ABOUT: Final = "Accelerators on Kubernetes from YAML rules: machines in, the Kueue scheduling chain out."


@dataclass(frozen=True, slots=True)
class Listed:
    """One command of the list."""

    name: str
    help: str
    group: str

    @property
    def module(self) -> str:
        """The module that holds the command."""
        return f"engine.cli.{self.name}"

    @property
    def is_service(self) -> bool:
        """Whether it talks to a cluster, perhaps for months."""
        return self.group == _SERVICES


_RULES: Final = "Rules"
_CHAIN: Final = "Machines and the chain"
_SERVICES: Final = "Services"
_OTHER: Final = "Other"

COMMANDS: Final = (
    Listed("validate", "check packs without running them", _RULES),
    Listed("test", "run the tests inside packs", _RULES),
    Listed("eval", "evaluate one section for one input", _RULES),
    Listed("effective", "a pack after overlays and libraries, with origins", _RULES),
    Listed("new", "a new pack, clean and tested from the start", _RULES),
    Listed("functions", "the functions of the rule language", _RULES),
    Listed("schema", "the published JSON Schemas", _RULES),
    Listed("plan", "machines in, the whole scheduling chain out", _CHAIN),
    Listed("diff", "what changed rules or settings would rename", _CHAIN),
    Listed("explain", "which rule made a field, and from what", _CHAIN),
    Listed("demo", "a recorded four-node cluster, step by step", _CHAIN),
    Listed("rules", "what became of delivered packs, and approval of what is held", _SERVICES),
    Listed("worker", "the control plane's worker, until it is told to stop", _SERVICES),
    Listed("status", "what is missing in a cluster's chain, and why", _SERVICES),
    Listed("record", "a live cluster as JSON lines, to be planned elsewhere", _SERVICES),
    Listed("completion", "the shell's completion script", _OTHER),
    Listed("version", "the version of Engine", _OTHER),
)

BY_NAME: Final = {listed.name: listed for listed in COMMANDS}


def overview() -> str:
    """The text of `engine --help`."""
    lines = [f"Usage: {PROGRAM} COMMAND [ARGS]...", "", ABOUT]
    for group in dict.fromkeys(listed.group for listed in COMMANDS):
        lines += ["", f"{group}:"]
        lines += [f"  {listed.name:<12}{listed.help}" for listed in COMMANDS if listed.group == group]
    lines += [
        "",
        "Options:",
        "  --version   print the version",
        "  -h, --help  print this, or the help of a command",
        "",
        "Examples:",
        f"  {PROGRAM} demo",
        f"  {PROGRAM} validate",
        f"  {PROGRAM} plan tests/machines/walkthrough",
        "",
        "Exit codes: 0 clean, 1 findings, 2 bad usage or unreadable input, 3 internal error, 4 nothing to check,",
        "5 tests failed.",
    ]
    return "\n".join(lines)
