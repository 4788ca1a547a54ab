"""What holds for every pool: order does not matter, and no column promises more than it holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.domain import feasibility
from engine.domain.facts import Placement
from engine.domain.inventory import OfferedProfile
from engine.domain.ledger import CardState, Mode, charge, free_state
from engine.domain.partitions import fits_together, free_starts
from engine.domain.units import Credits, Mib
from engine.domain.views import CardSummary, PoolViews, summarise
from tests.unit.domain.sample_cards import card, partitioned_card

CHARGES = st.lists(
    st.one_of(
        st.tuples(st.just(Mode.SHARED), st.just(160_000)),
        st.tuples(st.just(Mode.SLICED), st.integers(1, 100).map(lambda percent: percent * 16_000)),
        st.tuples(st.just(Mode.EXCLUSIVE), st.just(1_600_000)),
        st.just(None),
    ),
    min_size=1,
    max_size=8,
)


def _node(charges: list[tuple[Mode, int] | None]) -> CardSummary:
    cards = [card(index) if index % 3 else partitioned_card(index) for index in range(len(charges))]
    ledger: dict[str, CardState] = {}
    for one, booked in zip(cards, charges, strict=True):
        state = free_state(one)
        ledger[one.uuid] = charge(state, booked[0], Credits(booked[1])) if booked and not one.partitioned else state
    return summarise(cards, ledger)


SUMMARIES = st.lists(CHARGES.map(_node), max_size=6)


@given(SUMMARIES, SUMMARIES, st.randoms(use_true_random=False))
def test_a_pool_is_the_fold_of_its_members_whatever_came_and_went(
    stay: list[CardSummary], leave: list[CardSummary], random: object
) -> None:
    arrivals = [*stay, *leave]
    random.shuffle(arrivals)  # type: ignore[attr-defined]
    pool = PoolViews(arrivals)
    for summary in leave:
        pool.remove(summary)
    assert pool.views() == PoolViews(stay).views()


@given(SUMMARIES)
def test_no_column_promises_more_than_it_has_left_or_holds(summaries: list[CardSummary]) -> None:
    views = PoolViews(summaries).views()
    for view in (views.exclusive, views.shared, views.sliced, views.partitioned):
        assert 0 <= view.once_max <= view.remaining <= view.capacity


@given(st.integers(0, 1_600_000), st.integers(0, 1_600_000))
def test_what_a_fit_value_admits_a_card_can_grant(booked: int, asked: int) -> None:
    one = card()
    state = charge(free_state(one), Mode.SLICED, Credits(booked))
    label = feasibility.max_free_slice_units([one], {one.uuid: state})
    assert label is not None
    assert feasibility.can_grant_slice(one, state, Credits(asked)) == (label > 0 and label > asked - 1)


PROFILE = st.builds(
    OfferedProfile,
    published=st.sampled_from(["1a", "2b"]),
    driver_name=st.just("x"),
    memory_mib=st.just(Mib(1)),
    compute_slices=st.just(1),
    memory_slices=st.just(1),
    starts=st.lists(st.integers(0, 7), unique=True, max_size=4).map(lambda starts: tuple(sorted(starts))),
    span=st.integers(1, 4),
)
OCCUPIED = st.lists(st.builds(Placement, st.integers(0, 7), st.integers(1, 3)), max_size=3).map(tuple)


@given(PROFILE, OCCUPIED)
def test_a_free_start_touches_nothing_that_is_occupied(
    profile: OfferedProfile, occupied: tuple[Placement, ...]
) -> None:
    taken = {position for interval in occupied for position in range(interval.start, interval.end)}
    for start in profile.starts:
        is_clear = taken.isdisjoint(range(start, start + profile.span))
        assert (start in free_starts(profile, occupied)) is is_clear


@given(st.lists(PROFILE, max_size=3), st.randoms(use_true_random=False))
def test_what_fits_together_does_not_depend_on_the_order(profiles: list[OfferedProfile], random: object) -> None:
    shuffled = list(profiles)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fits_together(profiles) == fits_together(shuffled)
