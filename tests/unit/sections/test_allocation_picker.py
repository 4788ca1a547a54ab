"""The reference picker: which ids of a pool a claim gets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.sections.picker import Overlap, Refused, Shape, Shortage, Want, pick


def window(size: int, count: int, quantum: int = 1, overlap: Overlap = Overlap.REFUSE) -> Want:
    return Want(size, count, Shape.WINDOW, quantum, overlap)


def test_the_lowest_free_ids_are_taken_from_the_gaps() -> None:
    assert pick(Want(8, 3), [[0], [2, 3]]) == (1, 4, 5)


def test_a_pool_with_too_few_free_ids_is_exhausted_and_says_who_is_in_it() -> None:
    assert pick(Want(4, 3), [[0], [1]]) == Refused(Shortage.EXHAUSTED, need=3, free=2, size=4, holders=2)


def test_an_id_beyond_the_pool_refuses_even_where_enough_is_free() -> None:
    assert pick(Want(4, 1), [[7]]) == Refused(Shortage.FOREIGN, need=1, free=4, size=4, holders=1)
    assert pick(window(4, 1, overlap=Overlap.LEAST), [[-1]]) == Refused(
        Shortage.FOREIGN, need=1, free=4, size=4, holders=1
    )


def test_a_window_starts_at_a_multiple_of_its_quantum() -> None:
    assert pick(window(16, 4, 4), [[0]]) == (4, 5, 6, 7)


def test_a_window_without_room_is_refused_unless_it_may_overlap() -> None:
    held = [[1], [4]]
    assert pick(window(6, 3, 3), held) == Refused(Shortage.EXHAUSTED, need=3, free=4, size=6, holders=2)
    assert pick(window(6, 3, 3, Overlap.LEAST), held) == (0, 1, 2)


def test_the_least_overlap_counts_ids_and_not_holders() -> None:
    three_on_one_id = [[0], [0], [0], [3], [4]]
    assert pick(window(6, 3, 3, Overlap.LEAST), three_on_one_id) == (0, 1, 2)


def test_a_window_larger_than_the_pool_is_exhausted_even_where_it_may_overlap() -> None:
    assert isinstance(pick(window(4, 5, 1, Overlap.LEAST), []), Refused)


def test_a_claim_of_nothing_gets_nothing_and_is_not_refused() -> None:
    assert pick(Want(4, 0), [[0, 1, 2, 3]]) == ()
    assert pick(window(4, 0), []) == ()


def test_numbers_no_pool_can_have_are_named() -> None:
    assert Want(-1, 2).fault == "a claim of 2 from a pool of -1"
    assert window(4, 1, 0).fault == "a window of quantum 0"
    assert Want(4, 4).fault == ""


@given(
    st.integers(0, 12),
    st.integers(0, 12),
    st.integers(1, 4),
    st.sampled_from(Shape),
    st.sampled_from(Overlap),
    st.lists(st.lists(st.integers(0, 11), max_size=4), max_size=4),
)
def test_what_is_picked_is_free_in_the_pool_and_of_the_right_size(
    size: int, count: int, quantum: int, shape: Shape, overlap: Overlap, holders: list[list[int]]
) -> None:
    got = pick(Want(size, count, shape, quantum, overlap), holders)
    taken = {one for ids in holders for one in ids}
    if isinstance(got, Refused):
        assert got.state is Shortage.FOREIGN or got.free < count or shape is Shape.WINDOW
        return
    assert len(got) == count
    assert all(0 <= one < size for one in got)
    if shape is Shape.WINDOW and got:
        assert got == tuple(range(got[0], got[0] + count))
        assert got[0] % quantum == 0
    if shape is Shape.IDS or overlap is Overlap.REFUSE:
        assert not taken & set(got)
