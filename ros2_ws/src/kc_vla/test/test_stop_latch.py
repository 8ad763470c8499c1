from pathlib import Path

import pytest

from kc_vla.arm.stop_latch import LatchError, StopLatch
from kc_vla.ros.controller_parameters import ControllerParameters


def test_a_stop_outlives_the_process_until_it_is_released(tmp_path: Path) -> None:
    StopLatch(tmp_path / "state").set()
    after_a_restart = StopLatch(tmp_path / "state")
    assert after_a_restart.is_set
    after_a_restart.clear()
    assert not StopLatch(tmp_path / "state").is_set
    after_a_restart.clear()


def test_a_real_arm_has_one_record_whoever_starts_its_controller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_HOME", str(tmp_path))
    assert ControllerParameters(arm="piper", channel="can0").stop_folder() == tmp_path / "kc_vla/arm-can0"
    assert ControllerParameters(arm="piper", channel="/tmp/bus").stop_folder() == tmp_path / "kc_vla/arm-%2Ftmp%2Fbus"
    others = ControllerParameters(arm="ros", rig="piper_ros").stop_folder()
    assert others is not None
    assert others.parent == tmp_path / "kc_vla"
    assert ControllerParameters(arm="piper", state_folder="/there").stop_folder() == Path("/there")
    assert ControllerParameters(arm="simulated").stop_folder() is None


def test_without_a_folder_nothing_is_on_record() -> None:
    latch = StopLatch(None)
    latch.set()
    assert not latch.is_set
    latch.clear()


def test_a_stop_that_cannot_be_written_down_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LatchError, match="a restarted controller would forget this stop"):
        StopLatch(tmp_path / "file").set()
