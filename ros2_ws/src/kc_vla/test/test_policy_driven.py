"""`policy:=driven`: a program at a socket moves the arm; nothing moves where it is silent, gone or talks nonsense."""

import json
import os
import socket
import stat
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType, Chunk, ChunkLimits, check_chunk
from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot, load_robot
from kc_vla.policy.backends import PolicyContext, open_backend
from kc_vla.policy.driven import server
from kc_vla.policy.driven.action_exchange import ActionExchange
from kc_vla.policy.driven.client import ExternalClient
from kc_vla.policy.driven.wire import ExternalWireError, receive, send
from kc_vla.policy.interface import ClosableBackend, PolicyError, PolicyInput

EPISODE = Episode("counting-1", "counting", "push", 0, 50_000_000, True)
PIPER, PANDA = load_robot("piper"), load_robot("panda_sim")
VIEWS = {"third_person": np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3), "wrist": np.zeros((2, 2, 3), np.uint8)}
STATE = np.linspace(-0.5, 0.5, 8)


@pytest.fixture
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short one: a Unix socket's path ends at 107 characters."""
    return tmp_path_factory.mktemp("d") / "socket"


class Asking:
    """A stack in a thread, which asks again and again as the arm controller does."""

    def __init__(self, robot: Robot, path: Path) -> None:
        self.backend = open_backend("driven", PolicyContext(robot, 16), {"socket": str(path)})
        self.backend.reset(EPISODE)
        self.rows: list[np.ndarray] = []
        self.refused: list[str] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self._thread.start()

    def _ask(self) -> None:
        frame = 0
        while not self._over.is_set():
            size = 8 if self.backend.action_type is ActionType.TOOL_DELTA else 7
            seen = PolicyInput(frame, VIEWS, [], STATE[:size], "push", np.empty((0, 0), np.float32))
            try:
                self.rows.append(self.backend.infer(seen))
                frame += 1
            except PolicyError as error:
                self.refused.append(str(error))

    def end(self) -> None:
        self._over.set()
        self._thread.join()
        assert isinstance(self.backend, ClosableBackend)
        self.backend.close()


@pytest.fixture
def panda(path: Path) -> Iterator[Asking]:
    asking = Asking(PANDA, path)
    yield asking
    asking.end()


def test_what_is_seen_is_shown_and_what_is_said_is_done_once(panda: Asking, path: Path) -> None:
    action = np.array([0.001, 0.0, -0.002, 0.0, 0.01, 0.0, 0.5])
    with ExternalClient(str(path)) as driver:
        about = driver.about()
        assert (about.name, about.rate, about.views) == ("panda", 20.0, {"third_person": (4, 6), "wrist": (2, 2)})
        assert about.action == ("dx", "dy", "dz", "rx", "ry", "rz", "gripper")
        frames = []
        for number in range(5):
            sight = driver.look()
            frames.append(sight.frame)
            np.testing.assert_array_equal(sight.views["third_person"], VIEWS["third_person"])
            np.testing.assert_array_equal(sight.state, STATE)
            assert (sight.episode, sight.instruction) == ("counting-1", "push")
            driver.act(action * (number + 1))
        while driver.look(0.0).frame < 5:
            time.sleep(0.01)
    assert frames == [0, 1, 2, 3, 4]
    assert len(panda.rows) == 5
    for number, rows in enumerate(panda.rows):
        np.testing.assert_allclose(rows[0], action * (number + 1), atol=1e-7)
        assert not rows[4:, :-1].any()  # it stops soon where nothing follows
        check_chunk(Chunk(0, number, ActionType.TOOL_DELTA, TOOL_DELTA_NAMES, np.clip(rows, -0.1, 1)), ChunkLimits())


def test_a_program_that_has_patience_waits_for_longer_than_the_stack_does(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while a person has taken over: what it saw before is not shown to it as if it were news."""
    monkeypatch.setattr(server, "_MOST_PATIENCE_S", 0.1)
    meeting = ActionExchange()
    listening = server.ExternalServer(str(path), server.About("panda", (), ("dx",), 20.0), meeting)
    asked(meeting, frame=4)
    with ExternalClient(str(path)) as driver:
        assert driver.look().frame == 4
        begun = time.monotonic()
        assert driver.look(0.3).age >= 0.3
        assert time.monotonic() - begun >= 0.3
        threading.Timer(0.5, asked, (meeting,), {"frame": 5}).start()
        assert driver.look(60.0).frame == 5
    listening.close()


def test_an_arm_is_told_positions_of_its_joints(path: Path) -> None:
    asking = Asking(PIPER, path)
    try:
        with ExternalClient(str(path)) as driver:
            assert driver.about().action == driver.about().state == PIPER.columns
            seen = driver.look()
            driver.act(seen.state + 0.01)
            driver.look()
        np.testing.assert_allclose(asking.rows[0], np.tile(STATE[:7] + 0.01, (12, 1)), atol=1e-6)
    finally:
        asking.end()


def test_without_a_program_and_from_a_silent_one_nothing_moves(panda: Asking, path: Path) -> None:
    while not panda.refused:
        time.sleep(0.01)
    assert panda.refused[-1] == f"nothing comes from a program at {path}: the arm holds"
    with ExternalClient(str(path)) as driver:
        driver.look()
        panda.refused.clear()
        while not panda.refused:
            time.sleep(0.01)
        assert panda.refused[-1] == "nothing comes from the program that drives: the arm holds"
    assert not panda.rows


def test_a_second_program_is_refused_and_may_come_when_the_first_is_gone(panda: Asking, path: Path) -> None:
    with ExternalClient(str(path)) as first:
        first.about()
        with (
            ExternalClient(str(path)) as second,
            pytest.raises(ExternalWireError, match="another program drives already"),
        ):
            second.about()
    while panda.backend._server.driven:  # type: ignore[attr-defined]
        pass
    with ExternalClient(str(path)) as third:
        assert third.about().name == "panda"


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (np.zeros(6), r"an action is 7 numbers \(dx, dy, .*not an array .6."),
        (np.full(7, np.nan), "an action has to be finite"),
        (np.zeros((7, 1)), "an action is 7 numbers"),
    ],
)
def test_no_nonsense_reaches_the_arm(panda: Asking, path: Path, action: np.ndarray, said: str) -> None:
    with ExternalClient(str(path)) as driver:
        with pytest.raises(ExternalWireError, match=said):
            driver.act(action)
        driver.act(np.zeros(7))  # it goes on
    assert all(np.isfinite(rows).all() for rows in panda.rows)


def message(text: bytes) -> bytes:
    return struct.pack("<I", len(text)) + text


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        message(b"{...}"),
        message(b"[]"),
        message(b'{"arrays": [["a", "f8", [999999999]]]}'),
        message(b'{"arrays": [["a", "f8", [-1, 8]]]}'),
        message(b'{"arrays": [["a", "|O", [1, 8]]]}'),
        message(b'{"arrays": [["a", "f8"]]}'),
        struct.pack("<I", 1 << 31),
        b"\0",
    ],
)
def test_garbage_ends_the_connection_and_not_the_stack(panda: Asking, path: Path, garbage: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(str(path))
        end.sendall(garbage)
        end.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            assert end.recv(1) == b""
    while panda.backend._server.driven:  # type: ignore[attr-defined]
        pass
    with ExternalClient(str(path)) as driver:
        assert driver.about().name == "panda"
    assert not panda.rows


def test_an_unknown_question_is_answered_and_the_connection_stays(panda: Asking, path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(str(path))
        for question in (
            {"ask": "dance"},
            {"ask": "look"},
            {"ask": "look", "after": "x", "patience": 0},
            {"ask": "act"},
        ):
            send(end, question)
            assert "it cannot be answered" in receive(end)[0]["error"]


def test_only_the_user_reaches_the_socket_and_it_goes_with_the_stack(path: Path) -> None:
    asking = Asking(PANDA, path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with pytest.raises(PolicyError, match="another stack listens there"):
        open_backend("driven", PolicyContext(PANDA, 16), {"socket": str(path)})
    asking.end()
    assert not path.exists()
    with pytest.raises(ExternalWireError, match=r"no stack at the socket .*: start one with policy:=driven"):
        ExternalClient(str(path))


def test_a_socket_that_a_killed_stack_has_left_is_taken_and_a_file_is_not(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    asking = Asking(PANDA, path)
    asking.end()
    path.write_text("mine")
    with pytest.raises(PolicyError, match="something else than a socket"):
        open_backend("driven", PolicyContext(PANDA, 16), {"socket": str(path)})
    assert path.read_text() == "mine"
    with pytest.raises(PolicyError, match="needs socket:="):
        open_backend("driven", PolicyContext(PANDA, 16))


def asked(meeting: ActionExchange, frame: int = 0) -> list[float] | None:
    action = meeting.ask("e", frame, "push", STATE, VIEWS, 0.0, 0.25)
    return None if action is None else action.tolist()


def test_what_has_waited_too_long_and_what_is_of_another_episode_is_not_done() -> None:
    now = [10.0]
    meeting = ActionExchange(clock=lambda: now[0])
    meeting.act(np.ones(7))
    now[0] += 0.3
    assert asked(meeting) is None
    meeting.act(np.ones(7))
    meeting.begin()
    assert asked(meeting) is None
    meeting.act(np.ones(7))
    assert asked(meeting) == [1.0] * 7
    assert asked(meeting) is None


def test_a_moment_that_is_shown_again_is_acted_on_once() -> None:
    meeting = ActionExchange()
    assert asked(meeting, frame=4) is None
    first, _ = meeting.look(0, 0.0)
    assert asked(meeting, frame=4) is None  # shown again before anything was said to it
    meeting.act(np.ones(7))
    assert first is not None
    again, _ = meeting.look(first.number, 0.0)
    assert again is not None
    assert again.number <= meeting._answered  # nothing new: it would have waited, had it had patience
    assert asked(meeting, frame=4) == [1.0] * 7
    assert asked(meeting, frame=5) is None
    following, _ = meeting.look(first.number, 0.0)
    assert following is not None
    assert following.frame == 5


def test_an_action_for_the_moment_that_is_still_shown_is_not_lost_however_late_it_is_asked_for() -> None:
    """A program whose first answer takes longer than the stack waits, beside a simulator that stands still."""
    now = [10.0]
    meeting = ActionExchange(clock=lambda: now[0])
    assert asked(meeting, frame=4) is None
    meeting.act(np.ones(7))
    now[0] += 1.0
    assert asked(meeting, frame=4) == [1.0] * 7
    assert asked(meeting, frame=5) is None
    meeting.act(np.ones(7))
    now[0] += 1.0
    assert asked(meeting, frame=6) is None  # an arm in real time has moved on


ARRAYS = st.dictionaries(
    st.text(min_size=1, max_size=5), st.tuples(st.sampled_from(["u1", "<f8"]), st.lists(st.integers(0, 4), max_size=3))
)


@given(st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=5)), ARRAYS)
def test_every_message_arrives_as_it_was_sent(said: dict, shapes: dict) -> None:
    said.pop("arrays", None)
    arrays = {name: np.full(shape, 3, kind) for name, (kind, shape) in shapes.items()}
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send(ours, said, arrays)
        heard, found = receive(theirs)
    assert heard == json.loads(json.dumps(said))
    assert found.keys() == arrays.keys()
    for name, values in arrays.items():
        assert (found[name].dtype, found[name].tolist()) == (values.dtype, values.tolist())
