"""The command line as a whole: exit codes, what an error becomes, pipes, and what starting it costs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from engine.errors import ContractError
from tests.behaviour.running import TOP, run, start


def test_no_command_is_the_overview() -> None:
    assert start().stdout == start("--help").stdout == start("-h").stdout
    assert start().returncode == 0


def test_version() -> None:
    assert run("--version").stdout == run("version").stdout == "engine 0.1.0\n"


def test_a_misspelt_command_is_met_with_the_nearest() -> None:
    result = run("pln")
    assert result.exit_code == 2
    assert "There is no command 'pln'; did you mean plan?" in result.stderr
    assert "engine --help lists them" in run("xyzzy").stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("functions", "uper"), "there is no function uper; did you mean upper?"),
        (("schema", "manufacturr"), "there is no schema manufacturr; did you mean manufacturer?"),
        (("plan", "tests/machines/walkthrough", "--show", "instancetyps"), "did you mean instancetypes?"),
        (("plan", "tests/machines/walkthrough", "--set", "x"), "write --set KEY=VALUE"),
        (("plan", "tests/machines/walkthrough", "--unmanaged", "node-a10"), "did you mean node-a10g?"),
        (("eval", "modle", "--input", "x"), "did you mean model?"),
        (("eval", "model", "--input", "x"), "name one with --maker"),
        (("eval", "pool", "--maker", "acme", "--input", "x"), "leave --maker out"),
        (("explain", "node"), "write KIND/NAME"),
        (("explain", "node/x"), "name machine files or folders"),
    ],
)
def test_bad_usage_is_2_with_what_to_do(args: tuple[str, ...], words: str) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_fault_of_ours_is_3_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.cli.functions.FUNCTIONS", None)
    result = run("functions")
    assert result.exit_code == 3
    assert result.stderr.startswith("engine: internal error: AttributeError: ")
    assert "this is a fault of Engine" in result.stderr
    assert "ENGINE_DEBUG=1" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_broken_contract_is_3_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> str:
        raise ContractError("two functions are named upper")

    monkeypatch.setattr("engine.cli.version.version_text", broken)
    assert run("version").exit_code == 3


def test_a_folder_that_may_not_be_listed_is_unreadable_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> object:
        raise PermissionError(13, "Permission denied", "rules/secret")

    monkeypatch.setattr("engine.cli.packs.find_packs", refused)
    result = run("validate", "rules")
    assert result.exit_code == 2
    assert result.stderr == (
        "engine: error: rules/secret cannot be used: Permission denied; check the path and its rights\n"
    )


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    from click.testing import CliRunner

    from engine.cli.group import cli

    monkeypatch.setenv("ENGINE_DEBUG", "1")
    monkeypatch.setattr("engine.cli.functions.FUNCTIONS", None)
    result = CliRunner().invoke(cli, ["functions"])
    assert result.exit_code == 3
    assert "Traceback" in result.stderr + capfd.readouterr().err
    assert "with the traceback above" in result.stderr


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m engine functions --all | head -1"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=TOP, capture_output=True, check=False)
    assert result.returncode == 0
    assert result.stderr == b""
    closed = f"{sys.executable} -m engine schema manufacturer >&-; echo $?"
    result = subprocess.run(["bash", "-c", closed], cwd=TOP, capture_output=True, check=False)
    assert result.stdout == b"0\n"
    assert result.stderr == b""


def test_an_interrupt_is_130_and_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("engine.cli.packs.find_packs", interrupted)
    result = run("validate", "rules")
    assert result.exit_code == 130
    assert result.output.strip() == ""


def test_an_interrupt_while_starting_is_no_traceback_either() -> None:
    script = (
        "import sys, signal, os; sys.argv = ['engine', 'version']\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background shell ignores interrupts
        "class Finder:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'engine.cli.group': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from engine.cli.main import main\n"
        "main()\n"
    )
    result = subprocess.run([sys.executable, "-c", script], cwd=TOP, capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (130, b"")


def test_help_imports_no_slow_library() -> None:
    script = (
        "import sys; sys.argv = ['engine', '--help']\n"
        "from engine.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "slow = {'click', 'pydantic', 'ruamel', 'jsonschema', 'rich', 'msgspec', 'jmespath', 'engine.lang'}\n"
        "print(sorted(slow & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], cwd=TOP, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_help_costs_no_more_than_six_bare_starts() -> None:
    bare = min(_seconds("-c", "pass") for _ in range(5))
    assert min(_seconds("-m", "engine", "--help") for _ in range(5)) <= 6 * bare


def test_completion_is_a_script_that_asks_engine() -> None:
    assert "_ENGINE_COMPLETE=bash_complete" in run("completion", "bash").stdout
    asked = start(_ENGINE_COMPLETE="bash_complete", COMP_WORDS="engine va", COMP_CWORD="1")
    assert asked.stdout.splitlines() == [b"plain,validate"]


def test_functions_are_described_with_an_example() -> None:
    listed = run("functions").stdout
    assert "upper" in listed
    described = run("functions", "upper").stdout
    assert "example: " in described
    assert "gives" in described


def _seconds(*args: str) -> float:
    """Processor time of a process: other work on the machine does not count."""
    process = os.posix_spawn(
        sys.executable,
        [sys.executable, *args],
        {**os.environ, "PYTHONPATH": str(TOP)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, used = os.wait4(process, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime
