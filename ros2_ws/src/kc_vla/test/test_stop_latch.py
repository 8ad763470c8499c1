from pathlib import Path

import pytest

from kc_vla.arm.stop_latch import LatchError, StopLatch


def test_a_stop_outlives_the_process_until_it_is_released(tmp_path: Path) -> None:
    StopLatch(tmp_path / "state").set()
    after_a_restart = StopLatch(tmp_path / "state")
    assert after_a_restart.is_set
    after_a_restart.clear()
    assert not StopLatch(tmp_path / "state").is_set
    after_a_restart.clear()


def test_without_a_folder_nothing_is_on_record() -> None:
    latch = StopLatch(None)
    latch.set()
    assert not latch.is_set
    latch.clear()


def test_a_stop_that_cannot_be_written_down_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LatchError, match="a restarted controller would forget this stop"):
        StopLatch(tmp_path / "file").set()
