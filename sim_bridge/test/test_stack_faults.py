"""What counts as a failure of the spatial task, and what it is called."""

from __future__ import annotations

import pytest
import torch

from kc_vla_sim.envs.cube_stack import BOTTOM, MIDDLE, NOTHING, TABLE, TOP
from kc_vla_sim.envs.stack_faults import RIGHT, fault_in_words, find_fault

COLOURS = ("red", "green", "blue")
"""Bottom, middle, top."""
MOVING = -1


def judge(completed: int, support: tuple[int, int, int], height: float = 0.02) -> str:
    """Return the failure of one environment in words, or "" for none; `height` is of the bottom cube, m."""
    position = torch.tensor([[(0, 0, height), (0, 0, 0.02), (0, 0, 0.02)]])
    fault, culprit = find_fault(torch.tensor([completed]), position, torch.tensor([support]))
    if int(fault) == RIGHT:
        return ""
    return fault_in_words(int(fault), *culprit[0].tolist(), completed, COLOURS)


@pytest.mark.parametrize(
    ("completed", "support"),
    [
        (0, (TABLE, BOTTOM, MIDDLE)),
        (0, (TABLE, BOTTOM, MOVING)),
        (0, (TABLE, BOTTOM, TABLE)),
        (1, (TABLE, BOTTOM, TABLE)),
        (1, (TABLE, BOTTOM, MIDDLE)),  # put back: nothing is lost
        (1, (TABLE, TABLE, TABLE)),
        (2, (TABLE, TABLE, TABLE)),
        (2, (TABLE, TABLE, MOVING)),  # a wrong cube in the hand is not put down yet
        (2, (MIDDLE, TABLE, TABLE)),
        (3, (MIDDLE, TABLE, TABLE)),
        (3, (MIDDLE, TABLE, BOTTOM)),
        (3, (TABLE, TABLE, TABLE)),  # taken down again
    ],
)
def test_the_way_there_is_no_failure(completed: int, support: tuple[int, int, int]) -> None:
    assert judge(completed, support) == ""


@pytest.mark.parametrize(
    ("completed", "support", "words"),
    [
        (0, (TABLE, TABLE, MIDDLE), "stack fell: green cube stands on the table before blue was put aside"),
        (0, (TABLE, BOTTOM, NOTHING), "blue cube fell: it lies neither on the table nor squarely on a cube"),
        (1, (TABLE, TOP, TABLE), "green cube put on blue: it belongs on the table"),
        (2, (TOP, TABLE, TABLE), "red cube put on blue: it belongs on green"),
        (2, (TABLE, BOTTOM, TABLE), "green cube put on red: it belongs on the table"),
        (2, (TABLE, TOP, TABLE), "green cube put on blue: it belongs on the table"),
        (2, (TABLE, TABLE, MIDDLE), "blue cube put on green: it belongs on red, once red is on green"),
        (2, (TABLE, TABLE, BOTTOM), "blue cube put on red: it belongs on red, once red is on green"),
        (3, (TABLE, TABLE, MIDDLE), "blue cube put on green: it belongs on red, once red is on green"),
        (3, (TOP, TABLE, TABLE), "red cube put on blue: it belongs on green"),
    ],
)
def test_a_failure_says_what_went_wrong(completed: int, support: tuple[int, int, int], words: str) -> None:
    assert judge(completed, support) == words


def test_a_cube_below_the_table_has_fallen_off_even_while_it_moves() -> None:
    assert judge(1, (MOVING, MOVING, TABLE), height=-0.1) == "red cube fell off the table"


def test_environments_of_a_batch_are_judged_on_their_own() -> None:
    position = torch.full((2, 3, 3), 0.02)
    support = torch.tensor([[TABLE, TABLE, TABLE], [TOP, TABLE, TABLE]])
    fault, culprit = find_fault(torch.tensor([2, 2]), position, support)
    assert (fault != RIGHT).tolist() == [False, True]
    assert culprit[1].tolist() == [BOTTOM, TOP]
