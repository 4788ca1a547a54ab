"""Several endless works of one process: they live and end together.

What they do is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any


async def until_one_ends(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Runs all of them beside each other; when one ends, the others are ended, and what it raised is raised."""
    tasks = [asyncio.ensure_future(each) for each in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in tasks:
            each.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for error in ended:
        if isinstance(error, Exception):
            raise error
