"""The pages under docs/commands: one a command, made from its help. `python -m tests.docs.command_pages` writes them.

What a command does is said in its help and nowhere else; examples with their output are in docs/commands.md.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

from engine.cli.commands import COMMANDS, Listed
from engine.cli.group import SETTINGS, cli

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "commands"
WIDTH = 100


def pages() -> dict[str, str]:
    """The text of every page, by file name."""
    made = {f"{listed.name}.md": _page(listed) for listed in COMMANDS}
    rows = "".join(f"| [`engine {each.name}`]({each.name}.md) | {each.help} |\n" for each in COMMANDS)
    head = "# Commands\n\nOne page a command, made from its help. [Examples with their output](../commands.md) are a page of their own.\n\n"
    return {"README.md": f"{head}| command | is for |\n|---|---|\n{rows}", **made}


def _page(listed: Listed) -> str:
    command = cli.get_command(click.Context(cli), listed.name)
    assert command is not None
    page = _said(command, f"engine {listed.name}", f"{listed.help[0].upper()}{listed.help[1:]}.\n\n")
    below = command.commands.items() if isinstance(command, click.Group) else ()
    # Commands below a command: the same page, one heading deeper.
    parts = [_said(each, f"engine {listed.name} {name}", "").replace("\n## ", "\n### ") for name, each in below]
    return "\n#".join([page, *parts])


def _said(command: click.Command, name: str, about: str) -> str:
    context = click.Context(command, info_name=name, **SETTINGS)  # type: ignore[arg-type]
    context.terminal_width = WIDTH
    text = command.get_help(context)
    usage, _, rest = text.partition("\n\n")
    prose, _, options = rest.partition("\nOptions:\n")
    options, _, examples = options.partition("\nExamples:\n")
    words = "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", prose.strip()))
    made = f"# {name}\n\n{about}```text\n{' '.join(usage.split())}\n```\n\n"
    made += f"{_escaped(words)}\n\n## Options\n\n```text\n{options.rstrip()}\n```\n"
    if examples.strip():
        lines = "\n".join(line.strip() for line in examples.strip().splitlines())
        made += f"\n## Examples\n\n```bash\n{lines}\n```\n"
    return made


def _escaped(text: str) -> str:
    return re.sub(r"([*_<>|])", r"\\\1", text)


def main() -> None:
    """Write the pages anew; pages of commands that are gone are removed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file in FOLDER.glob("*.md"):
        file.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
