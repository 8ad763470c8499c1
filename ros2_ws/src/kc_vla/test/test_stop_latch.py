import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kc_vla.arm.stop_latch import LatchError, RunMark, StopLatch
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
    others = ControllerParameters(arm="ros", robot="piper_ros").stop_folder()
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


def test_the_record_says_who_pressed_last_and_when(tmp_path: Path) -> None:
    latch = StopLatch(tmp_path)
    assert latch.reason == ""
    latch.set("pressed by one")
    latch.set("pressed by another")
    assert latch.reason.endswith(" UTC: pressed by another")
    for _ in range(1000):  # a button that is held does not fill the disk
        latch.set("held")
    assert (tmp_path / "emergency_stop").stat().st_size < 1 << 15


def test_a_press_during_a_release_is_never_lost(tmp_path: Path) -> None:
    """Whatever order the two processes come in: the press was before the release was done, or is on record after it."""
    pressing, releasing = StopLatch(tmp_path), StopLatch(tmp_path)
    over = threading.Event()

    def release() -> None:
        while not over.is_set():
            releasing.clear()

    thread = threading.Thread(target=release)
    thread.start()
    try:
        for _ in range(200):
            pressing.set()
    finally:
        over.set()
        thread.join()
    pressing.set()
    assert releasing.is_set


_LIVES = (
    "import sys, time; from pathlib import Path; from kc_vla.arm.stop_latch import RunMark; m = RunMark(Path({!r}));"
)
_ENDS = {
    "killed": " print(m.take(), flush=True); time.sleep(60)",
    "in order": " print(m.take(), flush=True); m.release()",
}


def run_controller(folder: Path, end: str) -> str:
    """Let a process mark that it runs, and end so; return what it found."""
    source = _LIVES.format(str(folder)) + _ENDS[end]
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = process.stdout.readline().strip()
        if end == "killed":
            process.send_signal(signal.SIGKILL)
    return found


@settings(max_examples=4, deadline=None)
@given(ends=st.lists(st.sampled_from(sorted(_ENDS)), min_size=1, max_size=3))
def test_a_controller_knows_whether_the_one_before_ended_in_order(
    ends: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("state")
    found = [run_controller(folder, end) for end in [*ends, "in order"]]
    assert found == [str(before == "killed") for before in ["in order", *ends]]


def test_the_mark_of_a_controller_that_runs_is_its_own(tmp_path: Path) -> None:
    first, second = RunMark(tmp_path), RunMark(tmp_path)
    assert first.take() is False
    assert second.take() is None
    second.release()  # which changes nothing
    assert (tmp_path / "running").exists()
    first.release()
    assert second.take() is False


def test_a_mark_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LatchError, match="would not know that this one was killed"):
        RunMark(tmp_path / "file").take()
    assert RunMark(None).take() is False
