"""Parameters that cannot be: the node says so in one line and ends, with an exit code that says that it cannot start.

What the launch makes of that is tested in tests/faults/test_bad_input.py.
"""

from pathlib import Path

import pytest
import yaml
from nightly import at_night
from node_process import running

from kc_vla.core.share import share

RUNNER, POLICY, SELECTOR, SESSION, RECORDER = (
    f"kc_vla.nodes.{name}"
    for name in ("episode_runner", "policy_server", "keyframe_selector", "robot_session", "recorder")
)
CANNOT_START = 2


@pytest.mark.parametrize(
    ("node", "parameters", "line"),
    [
        (RUNNER, {"seed": -1}, "parameter 'seed' is -1: allowed is"),
        *at_night(  # how each is told: test_parameters.py
            (RUNNER, {"seed": 1.5}, "parameter 'seed' is 1.5: it must be"),
            (RUNNER, {"seed": "three"}, "parameter 'seed' is 'three': it must be"),
            (RUNNER, {"seed": 2**32}, "parameter 'seed' is 4294967296: allowed is"),
            (RUNNER, {"seed": 10**30}, "parameter 'seed' is 1e+30: it must be"),
            (RUNNER, {"episodes": 0}, "parameter 'episodes' is 0: allowed is"),
        ),
        (
            RUNNER,
            {"output_folder": "/dev/null/runs"},
            "cannot write into '/dev/null/runs': Not a directory; choose another",
        ),
        (RUNNER, {"report": "sideways"}, "parameter 'report' is 'sideways': "),
        (
            SESSION,
            {"task": "stir"},
            "unknown task 'stir': choose one of counting, identity, kitchen, spatial, temporal, or say with",
        ),
        (POLICY, {"backend": "replay"}, "backend 'replay' needs the parameter 'bag'"),
        (POLICY, {"backend": "replay", "bag": "/nowhere"}, "nothing to replay: "),
        (
            SELECTOR,
            {"selector": "learned", "models_folder": "/nowhere"},
            "no models in /nowhere: /nowhere/reg",
        ),
        (RECORDER, {"robot": "nobody"}, "no robot 'nobody': there are "),
        (
            RECORDER,
            {"also": "/wrist/camera_info sensor_msgs/msg/CameraInfo"},
            "parameter 'also': /wrist/camera_info is recorded anyway",
        ),
    ],
    ids=str,
)
def test_a_value_that_cannot_be(tmp_path: Path, node: str, parameters: dict[str, object], line: str) -> None:
    with running(node, tmp_path / "log", **parameters) as process:
        assert process.wait(60) == CANNOT_START
    said = (tmp_path / "log").read_text()
    assert line in said
    assert "Traceback" not in said
    assert len(said.splitlines()) <= 2, said


def test_a_model_that_looks_at_what_the_robot_has_no_camera_for(tmp_path: Path) -> None:
    content = yaml.safe_load((share("robots") / "panda_sim.yaml").read_text())
    content["cameras"] = {"front": "a", "wrist": "b"}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    asked = {"selector": "learned", "device": "cpu", "robot": str(tmp_path / "mine.yaml")}
    line = "needs the view third_person, and the robot has front, wrist: take a model that was trained with these"
    test_a_value_that_cannot_be(tmp_path, SELECTOR, asked, line)


def test_a_file_that_is_no_bag_is_not_replayed(tmp_path: Path) -> None:
    foreign = tmp_path / "holiday.mcap"
    foreign.write_bytes(b"\x89PNG" * 100)
    test_a_value_that_cannot_be(tmp_path, POLICY, {"backend": "replay", "bag": foreign}, "nothing to replay: ")


def test_an_instruction_makes_any_task_one_that_can_be(tmp_path: Path) -> None:
    asked = {"task": "stir", "instruction": "Stir the soup.", "startup_timeout": 1.0}
    with running(SESSION, tmp_path / "log", **asked) as process:
        assert process.wait(60) == 1
    assert "the third-person camera, the wrist camera, arm_controller" in (tmp_path / "log").read_text()
