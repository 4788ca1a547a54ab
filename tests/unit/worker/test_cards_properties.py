"""Whatever a Node and its `Devices` say: one write settles it, nothing foreign is touched, and what is written can be."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cluster.objects import Node
from engine.values.names import is_label_key, is_label_value, is_qualified_name
from engine.values.quantities import parse_quantity
from engine.worker.cards import NodeCards, read_cards
from tests.unit.worker.test_cards_plans import (
    ASKER,
    MANAGED,
    capacity_patch,
    card,
    fit_patch,
    group,
    node,
    partitioned,
    row,
    stated,
)

PREFIX = "acceleratable.feature.gpustack.ai/"
COUNTED = ("units", "cores-percentage", "memory-percentage", "memory-mib")
ODD_MEMORY = st.sampled_from(["junk", "9Ei", "99999Ei"])
IDS = st.sampled_from(["a10g", "h100", "l40s", "x" * 56, "x" * 57, "odd name", ""])
MAKERS = st.sampled_from(["nvidia", "amd", "acme"])
AMOUNTS = st.sampled_from(["0", "1", "7", "128", "1600k", "1e3", "-5", "junk", ""])
NAMES = st.sampled_from(
    [
        f"{base}{end}"
        for base in ("nvidia.com/gpu", "amd.com/gpu", "example.com/gpu")
        for end in (
            "",
            ".shared",
            ".sliced",
            ".partitioned",
            ".partitioned.units",
            ".partitioned.mig-",
            ".partitioned.mig-1g",
            *(f".sliced.{each}" for each in COUNTED),
        )
    ]
    + ["cpu", "memory"]
)
FIT = st.sampled_from([f"{prefix}{key}" for prefix in ASKER.keys.fit for key in ("nvidia-a10g", "amd-old", "x")])


@st.composite
def worlds(draw: Any) -> tuple[Node, NodeCards | None]:
    """A Node and its cards: most of it as it should be, some of it odd, missing, or of other days."""
    is_usual = st.sampled_from([True, True, True, False])
    labels = draw(st.dictionaries(FIT, st.sampled_from(["0", "1600000"]), max_size=2))
    labels |= draw(st.sampled_from([{MANAGED: "true"}, {MANAGED: "true"}, {MANAGED: "false"}, {}]))
    capacity = draw(st.dictionaries(NAMES, AMOUNTS, max_size=4))
    groups, rows = [], []
    for at, (maker, name) in enumerate(draw(st.lists(st.tuples(MAKERS, IDS), min_size=1, max_size=3, unique=True))):
        number = at * 10
        sound = [card(number), partitioned(number, "1g.10gb")]
        odd = [card(number, 0), partitioned(number, "1g.10gb", "1g.10gb+me"), {"id": f"GPU-{number}", "index": number}]
        memory = 24563 if draw(is_usual) else 0
        one = draw(st.sampled_from(sound if draw(is_usual) else odd))
        groups.append(group(one, id=name, manufacturer=maker, memory=memory))
        if draw(is_usual):
            labels |= {f"{PREFIX}{maker}-{name}": "true", f"{PREFIX}{maker}-{name}.memory": "24Gi"}
        elif draw(is_usual):
            labels |= {f"{PREFIX}{maker}-{name}": "true", f"{PREFIX}{maker}-{name}.memory": draw(ODD_MEMORY)}
        if draw(is_usual):
            capacity |= {f"{maker}.com/gpu.sliced": "128", f"{maker}.com/gpu.partitioned": "7"}
        if draw(is_usual):
            rows.append(row(number, draw(st.sampled_from([0, 160_000, 1_600_000])), draw(st.integers(0, 4))))
        elif draw(is_usual):
            rows.append(row(number, 99_000_000, 5))
    found = read_cards(stated(*groups, taken=rows)) if draw(is_usual) else None
    return node(labels, capacity), found


def patched(now: dict[str, str], patch: dict[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in (now | patch).items() if value is not None}


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_one_write_settles_the_capacity_and_touches_only_what_is_counted(world: tuple[Node, NodeCards | None]) -> None:
    seen, found = world
    patch = capacity_patch(seen, found)
    for name, amount in patch.items():
        assert name.endswith(tuple(f".sliced.{each}" for each in COUNTED)) or ".partitioned." in name
        assert not name.startswith("example.com/")
        if amount is not None:
            assert is_qualified_name(name)
            assert parse_quantity(amount) >= 0
            assert seen.metadata.labels.get(MANAGED) == "true"
    after = node(dict(seen.metadata.labels), patched(seen.status.capacity, patch))
    assert capacity_patch(after, found) == {}


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_one_write_settles_the_fit_labels_and_touches_no_other(world: tuple[Node, NodeCards | None]) -> None:
    seen, found = world
    patch = fit_patch(seen, found)
    for key, value in patch.items():
        assert key.startswith(ASKER.keys.fit)
        assert value is None or (is_label_key(key) and is_label_value(value) and 0 <= int(value) <= 1_600_000)
    after = node(patched(seen.metadata.labels, patch), dict(seen.status.capacity))
    assert fit_patch(after, found) == {}
    if seen.metadata.labels.get(MANAGED) != "true" or found is None:
        assert not any(key.startswith(ASKER.keys.fit) for key in after.metadata.labels)
