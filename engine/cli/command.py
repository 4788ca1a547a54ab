"""A click command whose help ends with examples.

Examples are command lines that a test runs as they stand, from the top of a checkout. Those that need a running cluster come
after them, and no test runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click


class Command(click.Command):
    """A command with examples, each a command line that starts with `engine`."""

    def __init__(
        self, *args: Any, examples: Sequence[str] = (), on_a_cluster: Sequence[str] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        self.on_a_cluster = tuple(on_a_cluster)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, unwrapped: they are there to be copied."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            formatter.write_paragraph()
            formatter.write("Examples:\n")
            formatter.write("".join(f"  {example}\n" for example in self.examples))
        if self.on_a_cluster:
            formatter.write("\n  # on a running cluster\n")
            formatter.write("".join(f"  {example}\n" for example in self.on_a_cluster))
