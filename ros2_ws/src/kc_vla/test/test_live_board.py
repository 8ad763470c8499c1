"""What a client of the live page is told, and of which size it stays."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from kc_vla.core.robot import load_robot
from kc_vla.live import messages
from kc_vla.live.board import COMMANDS, SCORES, ClientState, LiveBoard, health
from kc_vla.live.images import LiveImages
from kc_vla.media.images import jpeg

RED = np.full((480, 640, 3), (250, 10, 10), np.uint8)


def test_a_client_is_told_what_is_new_to_it_and_another_one_everything() -> None:
    board, first = LiveBoard(), ClientState()
    board.begin("one")
    board.tell("episode", {"id": "one"})
    board.add(SCORES, [0, 0.5])
    assert board.news(first) == {"anew": True, "parts": {"episode": {"id": "one"}}, "series": {SCORES: [[0, 0.5]]}}
    assert board.news(first) == {}
    board.add(SCORES, [1, 0.6])
    board.tell("episode", {"id": "one"})  # nothing new in that
    board.tell("stopped", True)
    assert board.news(first) == {"parts": {"stopped": True}, "series": {SCORES: [[1, 0.6]]}}
    assert board.news(ClientState())["series"] == {SCORES: [[0, 0.5], [1, 0.6]]}


def test_a_new_episode_begins_with_empty_series() -> None:
    board, seen = LiveBoard(), ClientState()
    board.begin("one")
    board.add(SCORES, [0, 0.5])
    board.news(seen)
    board.begin("two")
    board.begin("two")
    board.add(SCORES, [0, 0.1])
    assert board.news(seen) == {"anew": True, "series": {SCORES: [[0, 0.1]]}}


def test_what_nobody_keeps_up_to_date_is_not_shown_as_if_it_were_now() -> None:
    board = LiveBoard()
    board.begin("one")
    board.tell("joints", {"joint1": 0.1})
    board.tell("episode", {"id": "one"})
    board.add(COMMANDS, {"step": 199})
    board.add(SCORES, [199, 0.5])
    board.forget(COMMANDS, "joints")
    later = ClientState()
    assert board.news(later) == {"anew": True, "parts": {"episode": {"id": "one"}}, "series": {SCORES: [[199, 0.5]]}}
    board.add(COMMANDS, {"step": 549})
    board.tell("joints", {"joint1": 0.1})
    assert board.news(later) == {"parts": {"joints": {"joint1": 0.1}}, "series": {COMMANDS: [{"step": 549}]}}


def test_an_episode_of_hours_takes_no_more_than_one_of_minutes() -> None:
    board = LiveBoard()
    for frame in range(100_000):
        board.add(SCORES, [frame, 0.0])
        board.add(COMMANDS, frame)
    for name in range(1_000):  # nodes that nobody knows, on a topic that everybody may write
        board.tell(f"node {name}", health(0, "ok" * 10_000, {f"{key}" * 1000: "x" * 10_000 for key in range(500)}, 1.0))
    news = board.news(ClientState())
    assert len(news["series"][SCORES]) == 4000
    assert news["series"][SCORES][-1] == [99_999, 0.0]
    assert len(news["parts"]) == 128
    assert len(json.dumps(news)) < 5_000_000


class Camera:
    """Views whose newest picture is taken, once."""

    def __init__(self) -> None:
        self.came: dict[str, NDArray[np.uint8]] = {}
        self.asked = 0

    def take(self, view: str) -> NDArray[np.uint8] | None:
        self.asked += 1
        return self.came.pop(view, None)


def test_a_picture_is_made_small_once_and_only_if_somebody_asks() -> None:
    camera = Camera()
    pictures = LiveImages(camera.take, longest=320)
    assert pictures.newest("wrist", 0) is None
    camera.came["wrist"] = RED
    found = pictures.newest("wrist", 0)
    assert found
    number, data = found
    assert pictures.newest("wrist", 0) == found  # another client
    assert pictures.newest("wrist", number) is None
    shown = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert shown is not None
    assert shown.shape == (240, 320, 3)
    assert abs(shown[100, 100].astype(int) - (10, 10, 250)).max() < 12  # red, to OpenCV
    pictures.clear()
    assert pictures.newest("wrist", 0) is None
    camera.came["wrist"] = RED
    again = pictures.newest("wrist", number)
    assert again
    assert again[0] > number


def test_who_asks_soon_after_another_one_gets_the_same_picture() -> None:
    camera = Camera()
    pictures = LiveImages(camera.take, shared_s=3600.0)
    camera.came["wrist"] = RED
    first = pictures.newest("wrist", 0)
    camera.came["wrist"] = RED
    assert pictures.newest("wrist", 0) == first
    assert camera.asked == 1
    pictures.clear()
    assert pictures.newest("wrist", 0) not in (None, first)


def test_a_picture_that_cannot_be_shown_is_told_to_whoever_asks_until_another_one_comes() -> None:
    came = ["an image is in 'x', which cannot be shown", None, None, RED]

    def take(view: str) -> NDArray[np.uint8] | None:
        match came.pop(0):
            case str(problem):
                raise ValueError(problem)
            case picture:
                return picture

    pictures = LiveImages(take)
    for _ in range(3):
        with pytest.raises(ValueError, match="cannot be shown"):
            pictures.newest("wrist", 0)
    assert pictures.newest("wrist", 0)


def test_a_small_picture_is_not_made_larger() -> None:
    shown = cv2.imdecode(np.frombuffer(jpeg(RED[:8, :8], 640), np.uint8), cv2.IMREAD_COLOR)
    assert shown is not None
    assert shown.shape == (8, 8, 3)


def test_joints_are_told_with_their_bounds() -> None:
    robot = messages.robot_part(load_robot("piper"), "emulated")
    assert (robot["name"], robot["kind"]) == ("piper", "emulated")
    assert [joint["unit"] for joint in robot["joints"]].count("rad") == 6
    assert all(joint["low"] < joint["high"] for joint in robot["joints"])
    state = SimpleNamespace(name=["joint1", "joint2"], position=[0.25, math.nan])
    assert messages.joints_part(state) == {"joint1": 0.25, "joint2": None}


def test_what_contradicts_itself_or_is_no_number_harms_nothing() -> None:
    chunk = SimpleNamespace(
        horizon=2,
        dimension=2,
        actions=[1.0, 2.0, 3.0, math.inf],
        names=["dx", "dy"],
        sequence=3,
        observation_frame=40,
        backend="learned",
        latency=0.01,
        keyframes_used=[0, 20],
    )
    row = messages.chunk_row(chunk)
    assert row
    assert row["actions"] == [[1.0, 2.0], [3.0, None]]
    chunk.dimension = 3
    assert messages.chunk_row(chunk) is None
    chunk.dimension, chunk.horizon, chunk.actions, chunk.names = 0, 0, [], []
    assert messages.chunk_row(chunk) == row | {"actions": [], "names": []}
    score = SimpleNamespace(frame_index=7, score=math.nan, threshold=0.5, phase=1)
    assert json.dumps(messages.score_row(score), allow_nan=False) == "[7, null, 0.5, 1]"


def test_what_a_planner_does_and_believes_is_shown_and_what_is_none_is_left_out() -> None:
    step = {"kind": "skill", "text": "PickupObject(mug_1): done (6.8 s)", "now_s": 6.8}
    assert messages.step_row(json.dumps(step)) == step
    mug = {"type": "mug", "position": [0.1, 0.2, 0.0], "states": ["dirty"], "place": ["on", "tray"], "seen": 5.0}
    mug |= {"confidence": 0.9, "movable": True, "by": "sight", "size": [0.1, 0.1, 0.1], "memories": ["long-term"]}
    part = messages.belief_part(json.dumps({"at": "", "holds": "mug_1", "seconds": 7.0, "things": {"mug_1": mug}}))
    assert part is not None
    assert (part["holds"], part["things"]["mug_1"]["memories"]) == ("mug_1", ["long-term"])
    for text in ("", "[]", "{", '{"now_s": "late"}', '{"things": {"mug_1": {}}, "holds": "", "seconds": 1.0}'):
        assert messages.step_row(text) is None
        assert messages.belief_part(text) is None
    many = {f"mug_{at}": mug for at in range(500)}
    part = messages.belief_part(json.dumps({"holds": "", "seconds": 7.0, "things": many}))
    assert part is not None
    assert len(part["things"]) == 200
