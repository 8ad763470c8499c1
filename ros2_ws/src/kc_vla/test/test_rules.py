import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.tasks import TASKS
from kc_vla.keyframes.oracle import OracleScorer
from kc_vla.keyframes.rule_selector import RuleScorer
from kc_vla.keyframes.rules import RULES, CueScorer, Signals
from kc_vla.keyframes.scoring import ScorerInput
from kc_vla.keyframes.selector import KeyframeSelector
from kc_vla.keyframes.smoothing import Decision, GreedySmoother

PERIOD_NS = 50_000_000


def signals(**values: float) -> Signals:
    return Signals(**{"brightness": 100.0, "gripper": 0.04, "height": 0.2, "speed": 0.0, **values})


def scores(rule: str, name: str, values: list[float]) -> list[float]:
    subject = RULES[rule]()
    return [subject.update(signals(**{name: value})) for value in values]


def sight(frame: int, brightness: int = 100, **given_: object) -> ScorerInput:
    pixels = np.full((4, 4, 3), brightness, np.uint8)
    return ScorerInput(frame * PERIOD_NS, {"front": pixels}, **given_)  # type: ignore[arg-type]


def felt(frame: int, x: float = 0.0, brightness: int = 100, gripper: float = 0.04) -> ScorerInput:
    return sight(frame, brightness, gripper=gripper, tool_position=np.array([x, 0.0, 0.2]))


def test_first_frame_fires_once() -> None:
    assert scores("first_frame", "height", [0.2] * 3) == [1, 0, 0]


def test_brightness_fires_on_jumps_either_way_and_not_on_drift() -> None:
    found = scores("brightness_jump", "brightness", [100, 100.2, 100.4, 110, 110, 100])
    assert [score > 0.5 for score in found] == [False, False, False, True, False, True]


@given(st.floats(0, 255), st.floats(0, 255))
def test_a_larger_brightness_jump_scores_higher(one: float, other: float) -> None:
    low, high = sorted((one, other))
    (_, small), (_, large) = (scores("brightness_jump", "brightness", [0, value]) for value in (low, high))
    assert 0 <= small <= large < 1


def test_gripper_fires_in_the_frame_that_crosses_the_middle_and_not_on_jitter_there() -> None:
    values = [0.04, 0.03, 0.019, 0.021, 0.015, 0.017, 0.023, 0.025]
    assert scores("gripper_edge", "gripper", values) == [0, 0, 0, 0, 1, 0, 0, 1]


def test_height_fires_near_the_top_after_a_rise() -> None:
    values = [0.20, 0.10, 0.12, 0.149, 0.16, 0.159, 0.15, 0.10, 0.12, 0.155, 0.14]
    assert scores("height_peak", "height", values) == [0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0]


def test_a_peak_counts_only_with_something_in_the_grip() -> None:
    rise_and_fall = [0.02, 0.08, 0.10, 0.102, 0.08, 0.02]
    gripper = [0.0] * 6 + [0.037] * 6 + [0.068] * 6
    rule = RULES["carried_peak"]()
    found = [
        rule.update(signals(height=height, gripper=opening))
        for height, opening in zip(rise_and_fall * 3, gripper, strict=True)
    ]
    assert found == [0] * 6 + [0, 1, 1, 1, 0, 0] + [0] * 6


def test_lift_off_fires_once_in_each_grip_that_rises() -> None:
    height = [0.1, 0.02, 0.02, 0.025, 0.035, 0.2, 0.02, 0.02, 0.02, 0.2, 0.02, 0.02, 0.031]
    gripper = [0.08, 0.04, 0.04, 0.04, 0.04, 0.04, 0.04, 0.08, 0.0, 0.0, 0.08, 0.04, 0.04]
    rule = RULES["lift_off"]()
    found = [rule.update(signals(height=h, gripper=g)) for h, g in zip(height, gripper, strict=True)]
    assert [frame for frame, score in enumerate(found) if score] == [4, 12]


def test_standstill_fires_once_when_the_tool_came_to_rest() -> None:
    values = [0.0, 0.02, 0.06, 0.03, 0.009, 0.0, 0.04, 0.009]
    assert scores("standstill", "speed", values) == [0, 0, 0, 0, 1, 0, 0, 0]


FINITE = st.floats(-1e3, 1e3)


@given(
    st.lists(st.builds(Signals, st.floats(0, 255), FINITE, FINITE, st.floats(0, 1e3))), st.sampled_from(sorted(RULES))
)
def test_every_rule_gives_scores_between_0_and_1(seen: list[Signals], rule: str) -> None:
    subject = RULES[rule]()
    assert all(0 <= subject.update(values) <= 1 for values in seen)


def test_a_rule_whose_turn_comes_knows_what_went_before() -> None:
    subject = CueScorer(("first_frame", "brightness_jump"))
    assert subject.update(signals(brightness=100), phase=0) == 1
    # were it asked for the first time now, the lamp that has just lit up would be missed
    assert subject.update(signals(brightness=200), phase=1) > 0.5


def test_nothing_is_scored_when_every_phase_is_done() -> None:
    assert CueScorer(("first_frame",)).update(signals(), phase=1) == 0


def test_an_unknown_rule_is_refused_with_those_that_exist() -> None:
    with pytest.raises(
        ValueError, match="unknown rule 'smell': choose one of brightness_jump, carried_peak, first_frame"
    ):
        CueScorer(("first_frame", "smell"))


def test_the_oracles_score_is_handed_on() -> None:
    assert OracleScorer().score(sight(0, oracle=0.25), 1) == 0.25
    assert math.isnan(OracleScorer().score(sight(0, oracle=math.nan), 1))


def test_speed_comes_from_positions_and_stamps() -> None:
    subject = RuleScorer(("standstill",))
    positions = [0.0, 0.005, 0.01, 0.0102, 0.0102]  # 0.1 m/s, then 0.004 m/s
    assert [subject.score(felt(frame, x), 0) for frame, x in enumerate(positions)] == [0, 0, 0, 1, 0]


@pytest.mark.parametrize("broken", [felt(1, x=math.nan), felt(1, gripper=math.nan), felt(1, x=math.inf)])
def test_a_frame_without_finite_proprioception_says_nothing_and_leaves_no_trace(broken: ScorerInput) -> None:
    for rule in ("gripper_edge", "standstill", "height_peak", "carried_peak"):
        subject = RuleScorer((rule,))
        subject.score(felt(0), 0)
        assert math.isnan(subject.score(broken, 0))
        assert subject.score(felt(2), 0) == 0


def test_the_rules_of_counting_find_the_flashes() -> None:
    """Frames 0..59 with the lamp on in 10..14 and 30..34: the keyframes are where it changes."""
    task = TASKS["counting"]
    selector, scorer = KeyframeSelector(task.keyframes, GreedySmoother(0.5, 3)), RuleScorer(task.cues)
    found = []
    for frame in range(60):
        lamp = 10 <= frame < 15 or 30 <= frame < 35
        score = scorer.score(felt(frame, brightness=120 if lamp else 100), selector.phase)
        found += selector.update(frame, score)
    committed = [(event.label, event.frame) for event in found if event.decision is Decision.COMMITTED]
    assert committed == list(zip(task.keyframes, (0, 10, 15, 30, 35), strict=True))


@pytest.mark.parametrize("name", RULES)
@given(st.lists(st.tuples(*[st.floats(0, 255)] * 4), max_size=30))
def test_a_rule_looks_at_nothing_but_what_it_says(name: str, rows: list[tuple[float, ...]]) -> None:
    whole = [Signals(*row) for row in rows]
    blind = {
        field: math.nan for field in ("brightness", "gripper", "height", "speed") if field not in RULES[name].needs
    }
    some = [replace(seen, **blind) for seen in whole]
    one, other = RULES[name](), RULES[name]()
    assert [one.update(seen) for seen in whole] == [other.update(seen) for seen in some]
