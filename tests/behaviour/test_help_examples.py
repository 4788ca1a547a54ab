"""Every command has help with examples, and every example runs."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from engine.cli.commands import COMMANDS, PROGRAM, overview
from engine.cli.group import cli
from engine.cli.kinds import KINDS
from tests.behaviour.running import TOP, run

HELP = {listed.name: run(listed.name, "--help").stdout for listed in COMMANDS}
EXAMPLES = [
    line.strip()
    for text in [overview(), *HELP.values()]
    for line in text.partition("Examples:\n")[2].partition("\n\n")[0].splitlines()
]


@pytest.mark.parametrize("name", HELP)
def test_every_command_has_examples(name: str) -> None:
    assert f"Usage: engine {name}" in HELP[name]
    assert f"\nExamples:\n  engine {name}" in HELP[name]


@pytest.mark.parametrize("example", sorted(set(EXAMPLES)))
def test_an_example_runs(example: str) -> None:
    program, *args = shlex.split(example)
    assert program == PROGRAM
    result = run(*args)
    assert result.exit_code == 0, result.output
    assert result.stdout


def test_the_list_says_what_the_commands_say() -> None:
    for listed in COMMANDS:
        command = cli.get_command(click.Context(cli), listed.name)
        assert command is not None
        assert command.name == listed.name
        assert f"  {listed.name:<12}{listed.help}" in overview()


def test_help_is_one_text_with_and_without_click() -> None:
    assert run("--help").stdout == overview() + "\n"


BLOCKS = re.findall(
    r"^```console\n\$ (engine .*)\n((?:(?!```).*\n)*)```$", (TOP / "docs/commands.md").read_text(), re.MULTILINE
)


@pytest.mark.parametrize(("command", "printed"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_the_page_on_commands_shows_what_they_print(command: str, printed: str) -> None:
    # Lines move and digests change with every edit of a pack; what stands there is for people to see the form.
    assert _still(run(*shlex.split(command)[1:]).output) == _still(printed)


def test_the_page_on_commands_names_them_all() -> None:
    page = (TOP / "docs/commands.md").read_text(encoding="utf-8")
    assert all(f"`{listed.name}" in page or f"engine {listed.name}" in page for listed in COMMANDS)
    assert all(f"| `{kind.plural}` |" in page for kind in KINDS)


def _still(text: str) -> str:
    return re.sub(r'"?\b[0-9a-f]{64}\b"?', "DIGEST", re.sub(r"\.yaml:\d+", ".yaml:LINE", text))
