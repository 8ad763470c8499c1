"""Kitchens in which an instruction depends on what was where before: how they are drawn, watched and judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kc_vla.cli import main
from kc_vla.memory.asking.past_words import past_names_in
from kc_vla.planning.execution.former import _BACK
from kc_vla_sim.envs.kitchen import kitchen_of
from kc_vla_sim.frame import GroundTruthObject, Pose
from kc_vla_sim.kitchen.before.evaluation import table
from kc_vla_sim.kitchen.before.rearrangement import RearrangementKind, draw_rearrangement, rearrangements_from
from kc_vla_sim.kitchen.before.trial import RearrangementOutcome, is_done, right_of
from kc_vla_sim.simulator import Simulator

KINDS = tuple(RearrangementKind)


@pytest.mark.parametrize("kind", KINDS)
def test_an_episode_depends_on_how_things_stood_before(kind: RearrangementKind) -> None:
    for seed in range(4):
        episode = draw_rearrangement(seed, kind)
        things = {each.thing_id: each for each in episode.layout.things}
        last = {each.thing_id: each.position for each in episode.moves}
        assert list(past_names_in(episode.instruction)) or _BACK.search(episode.instruction)
        assert not list(past_names_in(episode.guess))
        assert not _BACK.search(episode.guess)
        assert episode.thing_id in episode.candidates
        meant = things[episode.thing_id]
        if kind is RearrangementKind.BACK:
            assert f"{meant.relation} {meant.holder}" == episode.place
            assert not np.allclose(last[episode.thing_id], (meant.x, meant.y, meant.z), atol=0.05)
            continue
        row = sorted((things[name] for name in episode.candidates), key=lambda each: each.y)
        assert len({each.kind.name for each in row}) == 1
        if kind is RearrangementKind.MIDDLE:
            assert row[1] is meant
            assert len(last) == 2
        else:
            assert meant.thing_id == episode.moves[-1 if "last" in episode.instruction else 0].thing_id


def test_episodes_of_a_seed_are_the_same_and_the_kinds_take_turns() -> None:
    one, other = (draw_rearrangement(5, RearrangementKind.ORDER) for _ in range(2))
    assert (one.moves, one.instruction, one.thing_id) == (other.moves, other.instruction, other.thing_id)
    assert [kind for _, kind in rearrangements_from(0, 3)] == list(KINDS)


def test_a_thing_counts_as_put_only_where_no_other_candidate_was_moved() -> None:
    episode = draw_rearrangement(0, RearrangementKind.MIDDLE)

    def truth(name: str, x: float, place: str) -> GroundTruthObject:
        return GroundTruthObject(
            name, "cup", "", Pose((x, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)), (0.1,) * 3, {"place": place}
        )

    before = {name: truth(name, 0.4, "on worktop") for name in episode.candidates}
    right = before | {episode.thing_id: truth(episode.thing_id, 0.0, episode.place)}
    wrong = next(name for name in episode.candidates if name != episode.thing_id)
    assert right_of(episode) == episode.thing_id
    assert is_done(episode, before, right)
    assert not is_done(episode, before, before)
    assert not is_done(episode, before, right | {wrong: truth(wrong, 0.0, episode.place)})


def test_the_second_hand_moves_what_it_is_given_where_there_is_no_tour() -> None:
    episode = draw_rearrangement(1, RearrangementKind.ORDER)
    simulator = Simulator(32, draw=False, tour=False, layout=lambda seed, reach, assets: episode.layout)
    simulator.reset("kitchen", episode.seed)
    tour = kitchen_of(simulator.environment).tour
    move = episode.moves[0]
    tour.carry(move.thing_id, move.position, move.turn)
    frame = simulator.hold()
    while tour.hand.busy:
        frame = simulator.hold()
    (event,) = kitchen_of(simulator.environment).events
    assert (event.what, event.object_id, event.by, event.step) == ("moved", move.thing_id, "hand", frame.index)
    there = next(each for each in frame.detections if each.object_id == move.thing_id)
    assert np.allclose(there.pose.position[:2], move.position[:2], atol=0.02)
    simulator.close()


def outcomes() -> Iterator[RearrangementOutcome]:
    right = RearrangementOutcome(30000, "middle", "places", True, True, True, "", 5, "put the cup ...", "cup_1")
    yield right
    yield replace(right, seed=30001, kind="order", done=False, said=False, reason="it fell")
    yield replace(right, memory="none", named=False, done=False, said=False, keyframes=0, meant="")


def test_the_table_has_a_line_for_each_memory_and_kind() -> None:
    lines = table(list(outcomes())).splitlines()
    assert len(lines) == 2 + 2 + 3
    assert lines[2].startswith("| `none` | middle | 1 | 0.0 (0.0 to 79.3) | 0.0")
    assert lines[-1].startswith("| `places` | all | 2 | 100.0 (34.2 to 100.0) | 50.0")
    assert lines[-1].endswith("| 0 | 5.0 |")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--tasks", "kitchen", "--memories", "diary"], "no memory 'diary' in the kitchen: choose of oracle"),
        (["--tasks", "kitchen,identity"], "or kitchen alone"),
    ],
)
def test_what_cannot_be_played_is_reported_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert main(["eval", "episodic", *words, "-o", str(tmp_path / "runs")]) == 1
    assert told in capsys.readouterr().err


@pytest.mark.nightly
def test_an_arm_with_keyframes_does_what_depends_on_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--tasks", "kitchen", "--episodes", "1", "--first-seed", "0", "--memories", "places,none"]
    assert main(["eval", "episodic", *words, "-o", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "| `places` | all | 1 | 100.0 (20.7 to 100.0) | 100.0" in shown
    assert "| `none` | all | 1 | 0.0" in shown
