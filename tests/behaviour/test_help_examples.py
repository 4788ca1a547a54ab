"""Every command has help with examples, and every example runs."""

from __future__ import annotations

import shlex

import click
import pytest

from engine.cli.commands import COMMANDS, PROGRAM, overview
from engine.cli.group import cli
from tests.behaviour.running import run

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
