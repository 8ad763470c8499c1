"""An output folder that fills up: told, and the episode goes on."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from stack import Stack

from kc_vla.episodes.episode import RecordedEpisode


@pytest.mark.nightly
def test_a_folder_that_fills_up(launch: Callable[..., Stack], tmp_path: Path) -> None:
    """A disk for two thirds of an episode, in a mount namespace of its own, and what is on it in the end."""
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    stack = launch(
        seed=3,
        output=disk,
        wrapper=[
            "unshare",
            *(["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]),
            "sh",
            "-c",
            f'mount -t tmpfs -o size=200k none {disk} && "$@"; code=$?; cp -r {disk} {kept}; exit $code',
            "sh",
        ],
    )
    episode = stack.first_episode()
    code = stack.finish()
    assert episode.wait_for_result() == "succeeded"
    assert stack.find(r"recorder.*cannot write the bag .*No space left on device; free space or choose another")
    assert stack.find(r"no report: cannot write the bag .*No space left")
    assert code == 1
    assert "Traceback" not in stack.text
    bag = RecordedEpisode(kept / episode.id / "bag")
    assert [frame.index for frame in bag.frames][:20] == list(range(20))
