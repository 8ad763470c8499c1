"""The video of an episode: what `kc-vla sim play` writes."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from kc_vla.core.tasks import find_task
from kc_vla_sim.film.layout import HEIGHT, WIDTH, FilmLayout, KeyframeTile, VideoFrame
from kc_vla_sim.simulator import Simulator
from kc_vla_sim_cli import main

EPISODE = ["play", "--task", "counting", "--variant", "paper", "--seed", "4", "--image-size", "32"]
ENDING = 40
"""Pictures that show the result: 2 s."""


def lengths(path: Path) -> tuple[int, float]:
    """Return the number of images of a video, and its seconds."""
    with av.open(str(path)) as film:
        assert (film.streams.video[0].width, film.streams.video[0].height) == (WIDTH, HEIGHT)
        times = [float(picture.time) for picture in film.decode(video=0)]
    return len(times), times[-1] + 0.05


@pytest.mark.nightly
def test_an_episode_is_filmed_whole_and_at_its_own_speed(
    tmp_path: Path, undrawn: Simulator, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "film.mp4"
    assert main([*EPISODE, "-o", str(path)]) == 0
    frame = undrawn.reset("counting", 4)
    while not frame.done:
        frame = undrawn.step(undrawn.expert.plan(1)[0][0])
    pictures, seconds = lengths(path)
    assert pictures == frame.index + 1 + ENDING
    assert seconds == pytest.approx(pictures / 20)
    told = f"counting, seed 4: success after {frame.index / 20:.2f} s (3 of 3 stages): {path}\n"
    assert capsys.readouterr().out == told
    assert [file.name for file in tmp_path.iterdir()] == ["film.mp4"]


@pytest.mark.nightly
def test_waits_are_left_out_when_asked_and_a_film_is_named_after_its_episode(
    tmp_path: Path, undrawn: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*EPISODE, "--skip-waits"]) == 0
    undrawn.reset("counting", 4)
    while len(undrawn.keyframes) < 5:
        undrawn.hold()
    last_flash = undrawn.keyframes[-1].frame
    length, _ = lengths(tmp_path / "counting-paper-4.mp4")
    assert 4 * 20 < length < last_flash  # a second after each of the lamp's changes is there


def test_a_folder_is_no_film(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*EPISODE, "-o", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"kc-vla sim play: cannot write {tmp_path}: it is a folder, name a file\n"


def test_the_picture_shows_what_is_known(drawn: Simulator) -> None:
    layout = FilmLayout(find_task("counting"), 4, "paper", "standard")
    frame = drawn.reset("counting", 4)
    start = KeyframeTile(0, frame.views)

    def compose(keyframes: dict[str, KeyframeTile], decisions: tuple[tuple[int, str], ...], phase: str) -> np.ndarray:
        return layout.compose(VideoFrame(frame, phase, {"start": start, **keyframes}, decisions)).astype(int)

    bare = compose({}, (), "wait")
    strip = np.abs(compose({"flash 1 on": start}, (), "wait") - bare)[560:].max(axis=(0, 2))
    assert np.flatnonzero(strip).min() > WIDTH // len(find_task("counting").keyframes)  # the second card, not the first
    assert (compose({}, (), "push") != bare)[:, 950:].any()
    assert (compose({}, ((0, "wait"),), "wait") != bare)[:, 950:].any()


def test_a_film_that_breaks_off_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: FilmLayout, moment: VideoFrame) -> np.ndarray:
        if moment.frame.index == 3:
            raise KeyboardInterrupt
        return np.zeros((HEIGHT, WIDTH, 3), np.uint8)

    monkeypatch.setattr(FilmLayout, "compose", interrupt)
    assert main([*EPISODE, "-o", str(tmp_path / "film.mp4")]) == 130
    assert list(tmp_path.iterdir()) == []
