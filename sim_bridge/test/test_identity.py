"""The rules of the identity task on any sequence of events."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kc_vla_sim.envs.identity import FAILURES, IDENTITY_RANGES, IdentityProgress
from kc_vla_sim.envs.teacher_arm_shuffle import LONGEST_EPISODE

events = st.lists(
    st.tuples(
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.tuples(st.booleans(), st.booleans(), st.booleans()),
        st.tuples(st.booleans(), st.booleans(), st.booleans()),
    ),
    min_size=1,
    max_size=30,
)


@settings(deadline=None)
@given(events)
def test_the_first_failure_stays_and_stages_are_never_taken_back(history: list[tuple]) -> None:
    """Play events: the shuffle ends, a cube is astray, the robot is near, which cubes are lifted and held up."""
    progress = IdentityProgress.start(1, torch.device("cpu"))
    ended, reason, completed = False, "", 0
    for ends, astray, near, lifted, held in history:
        ended = ended or ends
        now = (torch.tensor([x]) for x in (ended, astray, near, lifted, held))
        progress = progress.after(*now)
        if not reason and astray and not ended:
            reason = "a cube moved before the shuffle ended" if near else "the teacher dropped a cube"
        elif not reason and ended and (lifted[0] or lifted[2]):
            reason = "a wrong cube lifted"
        success = ended and held[1] and not reason
        if not reason:
            completed = max(completed, ended + success)
        assert FAILURES[int(progress.failure)] == reason
        assert bool(progress.success) == success
        assert int(progress.completed) == completed


def test_environments_of_a_batch_are_judged_and_restarted_on_their_own() -> None:
    ended = torch.tensor([False, True, True])
    astray = torch.tensor([True, False, True])
    near = torch.tensor([True, True, True])
    lifted = torch.tensor([[False] * 3, [True, False, False], [False, True, False]])
    progress = IdentityProgress.start(3, torch.device("cpu")).after(ended, astray, near, lifted, lifted)
    assert [FAILURES[k] for k in progress.failure.tolist()] == [FAILURES[1], FAILURES[3], ""]
    assert progress.success.tolist() == [False, False, True]
    assert progress.completed.tolist() == [0, 0, 2]
    again = progress.restarted(torch.tensor([0, 2]))
    assert again.failure.tolist() == [0, 3, 0]
    assert again.completed.tolist() == [0, 0, 0]


def test_the_longest_shuffle_leaves_time_for_the_lift() -> None:
    for ranges in IDENTITY_RANGES.values():
        longest = sum(high for _, high in ranges.durations) + ranges.hesitation[1]
        assert LONGEST_EPISODE / 20 - longest >= 10  # s; the expert takes about 3
