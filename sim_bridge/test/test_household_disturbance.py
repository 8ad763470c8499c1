"""What other people do between the tasks of a sequence."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla_sim.household.disturbance import DEEDS, disturb, noise_of
from kc_vla_sim.household.oracle import play
from kc_vla_sim.household.states import ThingState, with_state
from kc_vla_sim.household.tasks import Referee, TaskSequence, sequences

SHIPPED = list(sequences().values())


@tried(25, 125)
@given(st.sampled_from(SHIPPED), st.data())
def test_a_disturbance_changes_one_thing_and_what_comes_after_can_still_be_done(
    each: TaskSequence, data: st.DataObject
) -> None:
    referee = Referee(each.tasks)
    world = play(each.world(), referee, data.draw(st.integers(1, len(each.tasks) - 1)))[-1].world
    held, before, twin = world.held(), world.state(), world.copy()
    done = disturb(world, each, referee)
    assert done == disturb(twin, each, referee)
    assert twin.state() == world.state()
    assert (done is None) == (world.state() == before)
    assert world.held() == held
    for thing in world.things.values():
        assert thing.id in world.contents(thing.place.holder)
        assert all(with_state(thing.states, each) == thing.states for each in thing.states)
        assert ThingState.BROKEN not in thing.states
    assert all(solution.calls for solution in play(world, referee.copy(), len(each.tasks) - referee.number))


def test_people_move_hide_and_use_things() -> None:
    done = []
    for each in SHIPPED[::30]:
        referee = Referee(each.tasks)
        world = play(each.world(), referee, 1)[-1].world
        found = disturb(world, each, referee)
        if found is not None:
            done.append(found.deed)
            assert found.thing in str(found)
            assert world.hidden(found.thing) or found.deed != "hide"
    assert set(done) == set(DEEDS)
    assert noise_of(SHIPPED[0]) == noise_of(SHIPPED[0]) != noise_of(SHIPPED[1])


def test_what_a_description_means_survives_what_people_do() -> None:
    by_state = 0
    for each in SHIPPED:
        described = [meaning for meaning in each.tasks[-1].means.values() if meaning.states]
        if described:
            by_state += 1
            referee = Referee(each.tasks)
            world = play(each.world(), referee, len(each.tasks) - 1)[-1].world
            meant = [meaning.fitting(world) for meaning in described]
            for number in range(6):  # other names draw otherwise
                other = world.copy()
                disturb(other, replace(each, name=f"{each.name}, {number}"), referee)
                assert [meaning.fitting(other) for meaning in described] == meant
    assert by_state > 20
