"""What holds for every history of a queue: it comes to rest, and it is never open without groups."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.domain.kueue_model import observe, settle, written
from engine.domain.queue import step, switch
from engine.domain.queue_state import FlavorQuota, QueuePlan, QueueState

QUOTAS = st.lists(st.sampled_from("abc"), unique=True).map(
    lambda names: tuple(FlavorQuota(name, "cpu", 4) for name in sorted(names))
)
PLANS = st.builds(
    lambda quotas, lives: QueuePlan(quotas, has_live_flavors=bool(quotas) or lives), QUOTAS, st.booleans()
)
USAGE = st.dictionaries(st.sampled_from("abc"), st.integers(1, 4), max_size=2)


@given(st.lists(st.tuples(PLANS, st.booleans(), USAGE), max_size=6))
def test_every_history_comes_to_rest_with_the_plan_in_force(
    history: list[tuple[QueuePlan, bool, dict[str, int]]],
) -> None:
    state = QueueState()
    for plan, inactive, usage in history:
        settled = settle(state, plan, inactive=inactive, usage=usage)
        state = settled.state
        assert state.groups == plan.quotas
        assert not settled.inactive or inactive
        if plan.quotas:
            assert state.stop_policy == ("Hold" if inactive else "None")
        else:
            assert state.stop_policy in {"Hold", "HoldAndDrain"}


@given(st.lists(st.tuples(PLANS, st.booleans(), USAGE, st.booleans()), max_size=12))
def test_no_single_write_ever_leaves_a_queue_open_without_groups(
    history: list[tuple[QueuePlan, bool, dict[str, int], bool]],
) -> None:
    state = QueueState()
    for plan, inactive, usage, by_admin in history:
        reconciled = step(state, plan, observe(state, usage)).state
        state = written(state, switch(state, inactive=inactive).state if by_admin else reconciled)
        assert state.groups or state.stop_policy in {"Hold", "HoldAndDrain"}
