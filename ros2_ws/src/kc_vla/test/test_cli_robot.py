"""`kc-vla robot` shows what a robot file comes to, and writes one from a file of before."""

from pathlib import Path

import pytest

from kc_vla.cli import main
from kc_vla.core.robot import load_robot

FORMER = Path(__file__).parent / "former_robot_files"


def test_a_robot_is_shown_with_units(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robot", "show", "piper"]) == 0
    head, names, units, first, *rest = capsys.readouterr().out.splitlines()
    assert head.startswith("piper: 6 joints, driver 'piper', ")
    assert names.split() == ["joint", "lower", "upper", "home", "velocity", "acceleration", "jerk"]
    assert units.split() == ["rad", "rad", "rad", "rad/s", "rad/s2", "rad/s3"]
    assert first.split() == ["joint1", "-2.6180", "2.6180", "0.0000", "3.0000", "8.0000", "80.0000"]
    assert rest[5:8] == [
        "gripper: gripper, 0.07 m wide",
        "cameras: third_person (third_person_optical_frame), wrist (wrist_optical_frame)",
        "workspace: x -0.7 to 0.7, y -0.7 to 0.7, z 0 to 0.9 m",
    ]
    assert rest[8].startswith("tool in robot_base at home: x 0.")


def test_a_file_of_before_is_converted_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["robot", "convert", str(FORMER / "ur5e_ros.yaml"), str(tmp_path / "mine.yaml")]
    assert main(words) == 0
    assert capsys.readouterr().out == f"{tmp_path}/mine.yaml: written\n{tmp_path}/mine.urdf: written\n"
    assert load_robot(str(tmp_path / "mine.yaml")).urdf == tmp_path / "mine.urdf"
    assert main(words) == 1
    assert capsys.readouterr().err.endswith("mine.yaml is there already: name another file\n")


def test_a_robot_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robot", "show", "nobody"]) == 1
    assert capsys.readouterr().err.startswith("kc-vla robot show: no robot 'nobody': there are ")


def test_an_option_is_taken_by_its_former_name(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)
    assert main(["report", str(tmp_path / "bag"), "--path", "--rig", "piper"]) == 1
    assert capfd.readouterr().err.startswith("deprecated: --rig is called --robot\n")
