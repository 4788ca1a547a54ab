"""The pages on commands are what the commands say of themselves."""

from __future__ import annotations

from tests.docs.command_pages import FOLDER, pages


def test_the_pages_on_commands_are_their_help() -> None:
    there = {file.name: file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.md"))}
    wanted = pages()
    assert sorted(there) == sorted(wanted), "run: python -m tests.docs.command_pages"
    differing = [name for name, text in wanted.items() if there[name] != text]
    assert not differing, "run: python -m tests.docs.command_pages"
