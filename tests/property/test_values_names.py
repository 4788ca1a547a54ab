"""What holds for every name, whatever a vendor calls its product."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engine.values import names, quantities, versions

TEXT = st.text(max_size=90)
NAMEISH = st.text(alphabet="abcXYZ019 -_.()/é", max_size=90)


@given(NAMEISH, st.sampled_from(["", "a", "abc", "xyz"]), st.integers(-1, 70))
def test_a_slug_is_short_enough_and_has_no_separator_at_either_end_or_doubled(
    name: str, prefix: str, limit: int
) -> None:
    made = names.slug(name, prefix, limit)
    assert limit <= 0 or len(made) <= limit
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.")
    assert made == made.strip("-_.")
    assert not any(first in "-_." and second in "-_." for first, second in pairwise(made))


@given(NAMEISH)
def test_a_slug_without_a_prefix_is_its_own_slug(name: str) -> None:
    made = names.slug(name, "", 0)
    assert names.slug(made, "", 0) == made


@given(TEXT)
def test_a_sanitised_text_is_always_a_label_value_and_stays_itself(text: str) -> None:
    made = names.sanitize(text)
    assert names.is_label_value(made)
    assert names.sanitize(made) == made


@given(TEXT, st.integers(14, 70))
def test_truncate_hash_fits_trims_and_is_idempotent(text: str, limit: int) -> None:
    made = names.truncate_hash(text, limit)
    assert len(made.encode()) <= limit
    assert made == made.strip("-_.")
    assert names.truncate_hash(made, limit) == made


@given(st.text(alphabet="ab-", max_size=80), st.text(alphabet="ab-", max_size=80))
def test_truncate_hash_never_makes_two_texts_one(left: str, right: str) -> None:
    assert (names.truncate_hash(left, 20) == names.truncate_hash(right, 20)) == (left == right)


@given(st.integers(-(10**22), 10**22))
def test_a_printed_quantity_reads_back_as_the_same_number(number: int) -> None:
    assert quantities.parse_quantity(quantities.canonical(number)) == number


@given(st.integers(0, 1 << 40))
def test_a_printed_memory_size_reads_back_as_the_same_size(mib: int) -> None:
    assert quantities.quantity_mib(quantities.binary_quantity(mib)) == mib


VERSION = st.from_regex(r"\A[0-9]{1,3}(\.[0-9]{1,2}){0,2}(\.?rc[0-9])?\Z")


@given(VERSION, VERSION, VERSION)
def test_the_order_of_versions_has_no_cycle(first: str, second: str, third: str) -> None:
    low, middle, high = sorted([first, second, third], key=_key)
    assert versions.version_cmp(low, middle) <= 0
    assert versions.version_cmp(middle, high) <= 0
    assert versions.version_cmp(low, high) <= 0


_key = cmp_to_key(versions.version_cmp)
