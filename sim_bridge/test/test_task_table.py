"""What the simulator makes of an entry of the task table whose code is not there, or not at one with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kc_vla.core.tasks import TASKS, find_task
from kc_vla_sim.errors import BadTaskError, UnplayedTaskError
from kc_vla_sim.nodes.messages import result_of
from kc_vla_sim.simulator import Simulator
from kc_vla_sim_cli import main


@pytest.fixture
def simulator() -> Simulator:
    return Simulator(image_size=16, draw=False, variant="paper")


def waited(simulator: Simulator, task: str) -> None:
    """Let an episode pass in which the arm does nothing."""
    frame = simulator.reset(task, 1)
    while not frame.done:
        frame = simulator.hold()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"environment": "Juggling-v1"}, "environment 'Juggling-v1' of task 'other' cannot be loaded"),
        (
            {"environment": "juggling:Juggling-v1"},
            "environment 'juggling:Juggling-v1' of task 'other' cannot be loaded",
        ),
        ({"expert": "juggling:Expert"}, "expert 'juggling:Expert' of task 'other' cannot be loaded .No module named"),
        (
            {"expert": "kc_vla_sim.experts:Nobody"},
            "expert 'kc_vla_sim.experts:Nobody' of task 'other' cannot be loaded",
        ),
        ({"expert": "Nobody"}, "expert 'Nobody' of task 'other' cannot be loaded"),
    ],
)
def test_code_that_is_not_there_is_one_line(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], told: str
) -> None:
    monkeypatch.setitem(TASKS, "other", replace(TASKS["counting"], name="other", **change))
    with pytest.raises(BadTaskError, match=told) as raised:
        simulator.reset("other", 1)
    assert "\n" not in str(raised.value)


def test_a_task_of_data_alone_is_refused_and_is_none_of_all(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    task = replace(TASKS["counting"], name="pour", environment="", expert="", decisions=0)
    monkeypatch.setitem(TASKS, "pour", task)
    with pytest.raises(UnplayedTaskError, match="task 'pour' has no environment in the task table"):
        simulator.reset("pour", 1)
    with pytest.raises(SystemExit):
        main(["collect", "--task", "pour"])
    assert "invalid choice: 'pour' (choose from 'counting', " in capsys.readouterr().err


def test_an_environment_that_tells_of_more_than_the_table_knows_is_one_line(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TASKS, "other", replace(TASKS["counting"], name="other", keyframes=("start",), cues=()))
    with pytest.raises(BadTaskError, match=r"'other' reports number 1 of its keyframes, counted from 0, .* has 1"):
        waited(simulator, "other")


def test_a_task_without_stages_is_complete_when_it_succeeds(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kc_vla_msgs.msg import EpisodeStatus

    monkeypatch.setitem(TASKS, "other", replace(find_task("counting"), name="other", stages=()))
    frame = simulator.reset("other", 1)
    rates = [result_of(replace(frame, success=done), EpisodeStatus(), simulator, "").completion_rate for done in (0, 1)]
    assert rates == [0.0, 1.0]
