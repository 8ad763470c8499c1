"""Whatever a detector claims, skills send no set-point beyond the limits of an arm, and none below its table."""

from __future__ import annotations

import numpy as np
import pytest
from hostile_bench import Claim, HostileBench
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.planning.skills import Call
from kc_vla.skills.motion_paths import MOST_SPEED

TYPES = ("egg", "tray", "drawer", "cabinet", "microwave", "worktop")
NUMBERS = st.one_of(st.floats(), st.floats(-9.0, 9.0))
PLACES = st.one_of(
    st.tuples(st.floats(0.12, 0.65), st.floats(-0.4, 0.4), st.floats(-0.05, 0.35)), st.tuples(NUMBERS, NUMBERS, NUMBERS)
)
SIDES = st.one_of(st.floats(0.02, 0.12), st.floats(0.0, 0.5), st.sampled_from([0.0, 1e-12, 3.9, 50.0, float("nan")]))
TURNS = st.one_of(
    st.floats(-3.2, 3.2).map(lambda yaw: (0.0, 0.0, float(np.sin(yaw / 2)), float(np.cos(yaw / 2)))),
    st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS),
)
MOVES = st.one_of(st.just((0.0, 0.0, 0.0)), st.tuples(*[st.floats(-0.1, 0.1)] * 3))
WORDS = st.lists(NUMBERS.map(str), max_size=4).map(" ".join)


def claims(name: str) -> st.SearchStrategy[Claim]:
    near = st.tuples(st.floats(0.15, 0.6), st.floats(-0.3, 0.3), st.floats(0.0, 0.25))
    handles = st.one_of(near.map(lambda place: " ".join(map(str, place))), WORDS)
    attributes = st.fixed_dictionaries(
        {},
        optional={
            "handle": handles,
            "hinge": WORDS,
            "opening": st.one_of(st.sampled_from(["0.0", "0.1", "1e9"]), WORDS),
            "place": st.sampled_from(["in drawer_1", "on tray_1", "in egg_1", "on"]),
        },
    )
    return st.builds(
        Claim,
        st.just(name),
        PLACES,
        st.tuples(SIDES, SIDES, SIDES),
        TURNS,
        MOVES,
        st.sampled_from(["", "opened", "closed", "on"]),
        attributes,
    )


NAMES = tuple(f"{each}_1" for each in TYPES)
THINGS = st.tuples(*(claims(name) for name in NAMES)).flatmap(
    lambda all_of_them: st.lists(st.sampled_from(all_of_them), min_size=1, max_size=4, unique_by=lambda each: each.name)
)
SKILLS = st.one_of(
    st.builds(
        lambda skill, name: Call(skill, (name,)), st.sampled_from(["GoToObject", "PickupObject"]), st.just("egg_1")
    ),
    st.builds(
        lambda skill, name: Call(skill, (name,)),
        st.sampled_from(["OpenObject", "CloseObject"]),
        st.sampled_from(["drawer_1", "microwave_1"]),
    ),
    st.just(Call("Explore", ("workplace",))),
    st.builds(lambda name: Call("PutObject", ("egg_1", name)), st.sampled_from([*NAMES[1:], "worktop"])),
)


@pytest.mark.parametrize("name", ["piper", "panda_sim"])
@tried(3, 500)
@given(data=st.data())
def test_no_claim_of_a_detector_leads_an_arm_beyond_its_limits_or_through_its_table(
    name: str, data: st.DataObject
) -> None:
    egg = data.draw(claims("egg_1"))
    others = [each for each in data.draw(THINGS) if each.name != "egg_1"]
    bench = HostileBench(name, [egg, *others], data.draw(st.sampled_from([0.0, 0.03, 0.06])))
    skill = data.draw(SKILLS)
    if skill.skill == "PutObject":
        bench.do(Call("PickupObject", ("egg_1",)))
    bench.do(skill)
    sent, limits = np.array(bench.sent), bench.robot.limits
    assert np.isfinite(sent).all()
    assert (sent >= limits.lowest - 1e-9).all()
    assert (sent <= limits.highest + 1e-9).all()
    assert np.abs(np.diff(sent, axis=0)).max(initial=0.0) * bench.robot.control_rate <= 1.05 * MOST_SPEED
    assert bench.lowest() >= 0.0
