import queue
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from camera_files import write_pictures, write_video

from kc_vla.cameras import stream as stream_module
from kc_vla.cameras.errors import CameraError
from kc_vla.cameras.sources import CapturedFrame, SourceSpec
from kc_vla.cameras.stream import CameraStream

WAIT_S = 30.0


class Listener:
    """Notes what a stream tells, in order: a shade, "lost", "back" or "end"."""

    def __init__(self) -> None:
        self.told: queue.Queue[int | str] = queue.Queue()
        self.reasons: list[str] = []

    def open(self, spec: SourceSpec) -> CameraStream:
        def lost(reason: str) -> None:
            self.reasons.append(reason)
            self.told.put("lost")

        return CameraStream(spec, self._frame, lost, lambda: self.told.put("back"), lambda: self.told.put("end"))

    def next(self) -> int | str:
        return self.told.get(timeout=WAIT_S)

    def until(self, wanted: Callable[[int | str], bool]) -> int | str:
        while not wanted(found := self.next()):
            pass
        return found

    def _frame(self, frame: CapturedFrame) -> None:
        assert threading.current_thread().name == "camera"
        self.told.put(int(frame.pixels[0, 0, 0]))


def test_a_file_is_delivered_whole_and_ends(tmp_path: Path) -> None:
    listener = Listener()
    stream = listener.open(SourceSpec(str(write_video(tmp_path / "v.mp4", [20, 90, 200])), fps=200.0))
    told = [listener.next() for _ in range(4)]
    assert told[3] == "end"
    assert told[:3] == pytest.approx([20, 90, 200], abs=4)
    stream.close()


def test_of_a_device_no_more_pictures_are_taken_than_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has no 20 a second gives 30, whatever it is asked for."""

    class Device:
        fps, paced = 30.0, True

        def __init__(self) -> None:
            self.given = 0

        def read(self) -> CapturedFrame | None:
            self.given += 1
            if self.given > 90:
                return None
            return CapturedFrame(np.full((2, 2, 3), self.given, np.uint8), self.given * 33_333_333)

        def close(self) -> None: ...

    monkeypatch.setattr(stream_module, "open_source", lambda spec: Device())
    listener = Listener()
    listener.open(SourceSpec("/dev/video0", fps=20.0))
    told = []
    while (found := listener.next()) != "end":
        told.append(found)
    assert abs(len(told) - 60) <= 2


def test_a_folder_that_vanishes_is_opened_again_when_it_is_back(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "pictures", [(7, 7, 7)])
    listener = Listener()
    stream = listener.open(SourceSpec(str(folder), fps=100.0, loop=True))
    listener.until(lambda told: told == 7)
    folder.rename(tmp_path / "away")
    listener.until(lambda told: told == "lost")
    write_pictures(folder, [(8, 8, 8)])
    assert listener.next() == "back"
    assert listener.next() == 8
    stream.close()
    assert len(listener.reasons) == 1
    assert "No such file" in listener.reasons[0]


def test_closing_while_the_source_is_away_ends_the_search(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "pictures", [(7, 7, 7)])
    listener = Listener()
    stream = listener.open(SourceSpec(str(folder), fps=100.0, loop=True))
    folder.rename(tmp_path / "away")
    listener.until(lambda told: told == "lost")
    stream.close(timeout_s=WAIT_S)
    assert not any(thread.name == "camera" for thread in threading.enumerate())


def test_a_source_that_cannot_be_opened_at_the_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CameraError, match="no camera source"):
        Listener().open(SourceSpec(str(tmp_path / "nowhere")))
