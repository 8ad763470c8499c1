"""What `kc-vla eval perception` counts: right, elsewhere, of another type or state, missing, and ghosts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.cli import main
from kc_vla.core.begun import BegunError
from kc_vla_sim.kitchen.perceiving.evaluation import evaluate_perception, outcomes_in, table
from kc_vla_sim.kitchen.perceiving.judging import TrueObject, claims_near, judge
from kc_vla_sim.kitchen.perceiving.known_ids import KnownIds, RestingThings
from kc_vla_sim.kitchen.perceiving.remembering import RememberedObject
from kc_vla_sim.kitchen.perceiving.trial import LONG, SHORT, PerceptionSetting, TrialOutcome

MUG = TrueObject("mug_1", "mug", "dirty", (0.3, 0.1, 0.05), "on worktop", True, 5, True)
CUP = TrueObject("cup_1", "cup", "", (0.3, -0.2, 0.05), "on worktop", True, 5, True)
STOVE = TrueObject("stove", "stove", "on", (0.0, 0.5, 0.02), "", False, 9, True)


def held(true: TrueObject, **changed: object) -> RememberedObject:
    known = RememberedObject(f"track of {true.object_id}", true.object_type, true.state, true.position, 0.9, "")
    return replace(known, **changed)  # type: ignore[arg-type]


def test_a_memory_that_holds_the_kitchen_is_right() -> None:
    things = judge([MUG, CUP, STOVE], [held(MUG), held(CUP), held(STOVE)], movable=True)
    assert (things.right, things.claims, things.ghosts) == (["mug_1", "cup_1"], 2, [])
    furniture = judge([MUG, CUP, STOVE], [held(MUG), held(CUP), held(STOVE)], movable=False)
    assert (furniture.right, furniture.claims) == (["stove"], 1)


@pytest.mark.parametrize(
    ("wrong", "change"),
    [
        ("elsewhere", {"position": (0.3, 0.14, 0.05)}),
        ("other_type", {"object_type": "bowl"}),
        ("other_state", {"state": "cleaned"}),
        ("missing", {"confidence": 0.4}),
        ("missing", {"position": (0.6, 0.6, 0.05)}),
    ],
)
def test_what_is_wrong_is_named(wrong: str, change: dict[str, object]) -> None:
    verdict = judge([MUG, CUP], [held(MUG, **change), held(CUP)], movable=True)
    assert getattr(verdict, wrong) == ["mug_1"]
    assert verdict.right == ["cup_1"]


def test_two_claims_of_one_thing_are_a_ghost_and_so_is_one_of_nothing() -> None:
    twice = judge([MUG, CUP], [held(MUG), held(MUG, object_id="again"), held(CUP)], movable=True)
    assert twice.ghosts == ["again"]
    nowhere = judge([MUG, CUP], [held(MUG), held(CUP), held(CUP, object_id="none", position=(1.0, 1.0, 0.0))], True)
    assert nowhere.ghosts == ["none"]


def test_what_was_not_seen_or_has_changed_since_is_not_asked_and_no_ghost() -> None:
    unseen, changed = replace(MUG, seen=0), replace(CUP, as_seen=False)
    verdict = judge([unseen, changed], [held(unseen), held(changed)], movable=True)
    assert (verdict.asked, verdict.ghosts) == ([], [])


@given(st.permutations(range(6)), st.floats(0.0, 0.02))
def test_the_order_of_claims_does_not_matter(order: list[int], noise: float) -> None:
    truth = [replace(MUG, object_id=f"mug_{n}", position=(0.1 * n, 0.0, 0.0)) for n in range(6)]
    claims = [held(truth[n], position=(0.1 * n + noise, 0.0, 0.0)) for n in order]
    verdict = judge(truth, claims, movable=True)
    assert len(verdict.right) == 6
    assert np.allclose(verdict.errors_m, noise)


def test_a_place_is_claimed_by_what_is_believed_to_be_there() -> None:
    assert list(claims_near([held(MUG)], "mug", (0.31, 0.1, 0.05)))
    assert not list(claims_near([held(MUG, confidence=0.2)], "mug", MUG.position))
    assert not list(claims_near([held(MUG)], "cup", MUG.position))


def outcome(seed: int, right: int, ghosts: int) -> TrialOutcome:
    names = [f"mug_{n}" for n in range(10)]
    verdict = {
        "asked": names,
        "right": names[:right],
        "elsewhere": [],
        "other_type": [],
        "other_state": [],
        "missing": names[right:],
        "claims": 10,
        "ghosts": names[:ghosts],
        "errors_m": [0.004] * right,
    }
    verdicts = {f"{memory} {what}": verdict for memory in (LONG, SHORT) for what in ("things", "furniture")}
    judged = {LONG: [True, False], SHORT: [True]}
    return TrialOutcome(seed, True, verdicts, judged, judged, {}, 100, 20.0)


def test_the_table_counts_over_all_kitchens() -> None:
    shown = table([outcome(1, 9, 0), outcome(2, 10, 1)])
    assert "| long-term | things at their place, with type and state | 95.0 (76.4 to 99.1) | 19 of 20 |" in shown
    assert "| long-term | things that are none (ghosts) | 5.0 (0.9 to 23.6) | 1 of 20 |" in shown
    assert "| long-term | put away in view, and remembered there | 50.0 (15.0 to 85.0) | 2 of 4 |" in shown
    assert "4.0 mm median error" in shown


def test_a_folder_has_the_results_of_one_setting(tmp_path: Path) -> None:
    (tmp_path / "setting.json").write_text('{"detector": "another"}')
    (tmp_path / "results.jsonl").write_text("{}\n")
    with pytest.raises(BegunError, match=r"was begun .*: go on as it was begun, or choose another place"):
        evaluate_perception(PerceptionSetting("truth"), "test", 1, 1, tmp_path)


def test_a_line_that_a_kill_cut_is_played_again(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text('{"seed": 30000, "complete": true, "images": 3}\n{"seed": 300')
    assert [each.seed for each in outcomes_in(tmp_path).read()] == [30000]


def test_a_short_look_around_is_measured_and_goes_on_where_it_ended(tmp_path: Path, capsys) -> None:
    words = ["--detector", "truth", "--split", "development", "--seconds", "3"]
    words += ["--image-size", "128", "--processes", "1", "--output", str(tmp_path)]
    assert main(["eval", "perception", *words, "--kitchens", "1"]) == 0
    shown = capsys.readouterr().out
    found = re.search(r"long-term \| things at their place, with type and state \|[^|]*\| (\d+) of (\d+)", shown)
    assert found is not None
    right, asked = map(int, found.groups())
    assert right == asked > 3  # what the truth reports is remembered
    assert "Complete tours: 0 of 1" in shown
    (first,) = outcomes_in(tmp_path).read()
    assert main(["eval", "perception", *words, "--kitchens", "2"]) == 0
    assert next(outcomes_in(tmp_path).read()) == first
    assert (tmp_path / "table.md").read_text() in capsys.readouterr().out
    assert main(["eval", "perception", *words, "--kitchens", "2", "--no-depth"]) == 1
    assert "was begun with depth 'True', not 'False': go on as it was begun" in capsys.readouterr().err


def test_a_moved_thing_keeps_its_id_where_the_memory_has_it_at_its_new_place_under_that_id() -> None:
    ids, there = KnownIds(), replace(MUG, position=(0.5, 0.1, 0.05))
    ids.note([MUG, CUP], [held(MUG), held(CUP)])
    ids.note([there, CUP], [held(there, object_id="other"), held(CUP)])  # the first id counts
    assert ids.kept([there, CUP], [held(MUG, position=there.position), held(CUP)], {"mug_1"}) == [True]
    assert ids.kept([there, CUP], [held(there, object_id="other"), held(CUP)], {"mug_1"}) == [False]
    assert ids.kept([there, CUP], [held(MUG), held(CUP)], {"mug_1"}) == []
    assert ids.kept([there, CUP], [held(there), held(CUP)], set()) == []


def test_nobody_looks_while_a_thing_moves() -> None:
    def frame(x: float, opened: str = "closed") -> SimpleNamespace:
        objects = [("mug_1", "mug", x), ("drawer_1", "drawer", 0.0 if opened == "closed" else 0.1)]
        detections = [
            SimpleNamespace(object_id=name, object_type=kind, pose=SimpleNamespace(position=(at, 0.0, 0.0)))
            for name, kind, at in objects
        ]
        return SimpleNamespace(detections=detections)

    watch = RestingThings()
    frames = [frame(0.1), frame(0.1005), frame(0.2), frame(0.2), frame(0.2, "opened")]
    assert [watch.rest(each) for each in frames] == [True, True, False, True, True]  # type: ignore[arg-type]
