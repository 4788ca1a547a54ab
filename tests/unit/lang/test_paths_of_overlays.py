"""Paths in overlays: written and read back."""

from __future__ import annotations

import pytest

from engine.lang.tree_edit import parse_path, path_text


@pytest.mark.parametrize("text", ["emit.env.X", 'emit."site.example/rack".x', '"a\\"b.c"', "a"])
def test_a_path_is_read_back_as_it_is_written(text: str) -> None:
    assert path_text(parse_path(text)) == text


def test_a_list_position_is_written_in_brackets() -> None:
    assert path_text(("pci", 0, "vendor")) == "pci[0].vendor"
