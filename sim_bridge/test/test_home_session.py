"""What a home is asked for in one launch, what each instruction took, and the report of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kc_vla.planning.skills import Call
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.home_report import PICTURE, TABLE, VALUES, table, write_report
from kc_vla_sim.household.journey import Journey, points_of, without_memory
from kc_vla_sim.household.overview import overview, restored
from kc_vla_sim.household.played_instructions import PlayedInstructions
from kc_vla_sim.household.scenes import build_home, build_scene
from kc_vla_sim.household.session import Judge, home_of, wanted
from kc_vla_sim.household.simulator import Household
from kc_vla_sim.household.tasks import sequence
from kc_vla_sim.household.way_plot import InstructionWays

TASKS = "composite-development-007"


def test_an_instruction_a_sequence_that_is_there_and_a_file_of_lines(tmp_path: Path) -> None:
    assert wanted("wash an apple", "").instructions == ("wash an apple",)
    assert wanted(" ", "").instructions == ()
    assert home_of(TASKS, "home1", 3) == (str(sequence(TASKS).scene), sequence(TASKS).seed)
    assert home_of("", "home1", 3) == ("home1", 3)
    there = wanted("", TASKS)
    assert there.instructions == tuple(each.instruction for each in sequence(TASKS).tasks)
    own = tmp_path / "own.txt"
    own.write_text("# mine\nwash a plate\n\n  put it\x1b on the table \n")
    assert wanted("", str(own)).instructions == ("wash a plate", "put it on the table")


def test_what_is_no_sequence_is_told_in_a_line(tmp_path: Path) -> None:
    empty, binary = tmp_path / "empty", tmp_path / "binary"
    empty.write_text("#\n")
    binary.write_bytes(b"\xff\xfe\x00")
    for given in (("x", TASKS), ("", "composite-nowhere-001"), ("", str(empty)), ("", str(binary))):
        with pytest.raises(HouseholdError) as caught:
            wanted(*given)
        assert "\n" not in str(caught.value)


def test_a_home_is_again_as_it_was_told() -> None:
    home = Household(build_scene(1))
    start = home.world.copy()
    area = next(each for each in home.world.plan.areas if each != home.world.at)
    assert home.do(Call("GoToPlace", (area,))).done
    for thing in [each.object_id for each in home.look() if each.movable]:
        home.do(Call("GoToObject", (thing,)))
        if home.do(Call("PickupObject", (thing,))).done:
            break
    assert home.world.held() is not None
    told = json.loads(json.dumps(overview(home.world)))
    again = restored(start, told)
    assert again.state() == home.world.state()
    assert again.walked_m == pytest.approx(home.world.walked_m, abs=1e-3)
    assert start.state() == build_scene(1).state()
    with pytest.raises(HouseholdError, match="another home"):
        restored(build_scene(2), told)
    for odd in ({}, {"things": 3}, {**told, "robot": []}, {**told, "seconds": "soon"}):
        with pytest.raises(HouseholdError):
            restored(start, odd)


def test_each_instruction_is_played_beside_and_judged() -> None:
    tasks = sequence(TASKS)
    world, judge, played = tasks.world(), Judge(tasks), PlayedInstructions()
    said = tasks.tasks[0].instruction
    judged = judge.begin(world)
    played.begin(world, said, judged)
    assert judge.end(world) is False  # nothing was done in it
    played.end(Journey("both", True, "", 10.0, 4.0, 1, 4, (world.at,), False))
    played.close()
    [pair] = played.pairs
    assert pair.alone is None or pair.alone.memory == "none"  # it may have been ended before it had begun
    alone = without_memory(world, said, judged)
    assert alone.success
    assert alone.goal
    assert world.state() == tasks.world().state()
    assert Judge(None).begin(world) is None


def test_the_report_has_both_ways_and_survives_what_people_say(tmp_path: Path) -> None:
    world = build_home(1)
    first, *_, last = world.plan.areas
    one = Journey("both", True, "", 20.0, 9.0, 1, 5, (first, last), planner="model", notes=("planned by grammar",))
    other = Journey("none", True, "", 40.0, 19.0, 4, 9, (first, last, first, last))
    failed = Journey("both", False, "nothing | \x1b[2J was found", 1.0, 0.0, 0, 1, (first,), False)
    pairs = [InstructionWays("wash | an\napple" + "!" * 500, one, other), InstructionWays("fly", failed, None)]
    write_report(tmp_path, world, pairs, 3)
    text = (tmp_path / TABLE).read_text()
    assert "1 places explored in place of 4, 20 s in place of 40 s" in text
    assert "goal missed" in text
    assert "| both | model |" in text
    assert "- 1: planned by grammar" in text
    assert "2 of 3 instructions came to their end" in text
    assert "\x1b" not in text
    rows = [line for line in table(pairs, 3) if line.startswith("| ")]
    assert {line.count("|") for line in rows} == {10}
    assert (tmp_path / PICTURE).stat().st_size > 10_000
    assert json.loads((tmp_path / VALUES).read_text())[0]["alone"]["explorations"] == 4
    assert points_of(world.plan, (first, last))[-1] == world.plan.areas[last].position[:2]
    write_report(tmp_path / "nowhere", world, [], 1)  # nothing was done: nothing is written
