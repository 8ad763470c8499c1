"""The backends `openpi` and `groot` against servers of their protocols, over real sockets, in good and bad moods."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from nightly import at_night
from policy_doubles import Double, double

from kc_vla.core.chunk import TOOL_DELTA_NAMES
from kc_vla.core.episode import Episode
from kc_vla.core.robot import load_robot
from kc_vla.policy.backends import BACKENDS, PolicyContext, open_backend
from kc_vla.policy.interface import Backend, PolicyError, PolicyInput, Proprioception, RememberedFrame
from kc_vla.policy.options import TOKEN

PANDA = load_robot("panda_sim")
CONTEXT = PolicyContext(PANDA, 16)
EPISODE = Episode("one", "counting", "push", 0, 50_000_000, True)
WIRES = ("openpi", "groot")
EACH = pytest.mark.parametrize("wire", WIRES)
START = {"openpi": ("--memory", "--keeps"), "groot": ()}


def seen(number: int) -> RememberedFrame:
    views = {view: np.full((48, 64, 3), number + 1, np.uint8) for view in PANDA.views}
    return RememberedFrame(number, views, np.zeros(8), felt(number))


def felt(number: float) -> Proprioception:
    joints = np.zeros(9)
    joints[7:] = 0.01
    return Proprioception(np.array([number * 0.01, 0, 0.2, 1, 0, 0, 0]), joints)


def given(number: int, keyframes: int = 0, frozen: int = 0) -> PolicyInput:
    now = seen(number)
    kept = [seen(k) for k in range(keyframes)]
    runs = np.full((frozen, 7), 0.25, np.float32) if frozen else np.empty((0, 0), np.float32)
    return PolicyInput(number, now.views, kept, now.state, "push the cube", runs, felt=now.felt)


@contextmanager
def asked(
    tmp_path: Path, wire: str, *options: str, timeout_s: float = 20.0, **settings: str
) -> Iterator[tuple[Backend, Double]]:
    """A backend and the server that it asks."""
    with double(tmp_path / wire, wire, *(options or START[wire])) as server:
        yield (
            open_backend(wire, CONTEXT, {"server": server.server, "timeout_s": timeout_s, **settings}),
            server,
        )


@EACH
def test_a_server_is_asked_and_answers(tmp_path: Path, wire: str) -> None:
    times: dict[str, float] = {}
    with double(tmp_path / wire, wire, *START[wire]) as server:
        context = PolicyContext(PANDA, 16, measured=times.__setitem__)
        backend = open_backend(wire, context, {"server": server.server, "timeout_s": 20.0})
        assert backend.reset(EPISODE) == ""
        chunk = backend.infer(given(40, keyframes=2))
        assert (chunk.shape, chunk.dtype, chunk[:, 0].any()) == ((16, 7), np.float32, False)
        assert np.allclose(backend.infer(given(41, keyframes=5))[:, 0], 0.01)
        assert backend.names == TOOL_DELTA_NAMES
        reset, first, second = server.requests
    assert reset == {"reset": True}
    assert (first["shown"], second["shown"]) == (2, 5)
    assert "push the cube" in first["prompt"]
    assert times["round_trip"] == pytest.approx(times["server"] + times["network"])


def test_openpi_keyframes_are_sent_once_and_again_over_a_new_connection(tmp_path: Path) -> None:
    with asked(tmp_path, "openpi") as (backend, server):
        backend.reset(EPISODE)
        for keyframes in (2, 3, 3):
            backend.infer(given(40, keyframes))
        server.kill()
        server.start()
        backend.infer(given(41, 3))
        backend.reset(EPISODE)
        backend.infer(given(42, 1))
        requests = [request for request in server.requests if "new" in request]
    assert [request["new"] for request in requests] == [2, 1, 0, 3, 1]
    assert [request["shown"] for request in requests] == [2, 3, 3, 3, 1]
    assert requests[2]["bytes"] < requests[0]["bytes"] / 2


def test_openpi_keyframes_are_sent_each_time_where_the_server_keeps_none_and_never_without_a_memory(
    tmp_path: Path,
) -> None:
    with asked(tmp_path / "a", "openpi", "--memory") as (backend, server):
        backend.reset(EPISODE)
        assert backend.needs_keyframes
        for _ in range(2):
            backend.infer(given(40, 3))
        assert [request["new"] for request in server.requests if "new" in request] == [3, 3]
    with asked(tmp_path / "b", "openpi", "--rtc") as (backend, server):
        backend.reset(EPISODE)
        assert not backend.needs_keyframes
        backend.infer(given(40, 3))
        (request,) = server.requests  # and no reset, which it has not announced
    assert request["keys"] == ["observation/image", "observation/state", "observation/wrist_image", "prompt"]


def test_openpi_is_told_what_runs_where_it_wants_to_know(tmp_path: Path) -> None:
    for options, delay in (("--rtc",), 3), (("--memory",), None):
        with asked(tmp_path / options[0], "openpi", *options) as (backend, server):
            backend.infer(given(40, frozen=3))
            assert server.requests[-1]["delay"] == delay


def test_the_first_keyframe_never_leaves(tmp_path: Path) -> None:
    with asked(tmp_path, "groot") as (backend, server):
        backend.infer(given(40, 12))
        assert (server.requests[-1]["shown"], server.requests[-1]["first"]) == (5, 1)


@pytest.mark.parametrize(
    ("dialect", "moments"), [("n1.6", 3), ("kc-vla", 6), *at_night(("n1.5", 1), ("n1.5", 6), ("n1.6", 1))]
)
def test_groot_in_each_of_its_dialects(tmp_path: Path, dialect: str, moments: int) -> None:
    options = ("--dialect", dialect, "--moments", str(moments))
    asks = {"dialect": "kc-vla"} if dialect == "kc-vla" else {}
    with asked(tmp_path, "groot", *options, **asks) as (backend, server):
        backend.reset(EPISODE)
        assert backend.needs_keyframes == (moments > 1)
        chunk = backend.infer(given(40, 2))
        assert chunk.shape == (16, 7)
        assert server.requests[-1]["shown"] == min(2, moments - 1)
        if dialect == "kc-vla":
            assert "obs_mask" in server.requests[-1]["keys"]
            assert server.requests[-1]["prompt"] == "push the cube"


@EACH
def test_a_server_that_says_it_is_of_another_kind_is_told(tmp_path: Path, wire: str) -> None:
    says = {
        "openpi": '{"keys": {"wants": ["state", "images/top"], "gives": ["actions"]}}',
        "groot": '{"video": ["left"]}',
    }
    told = {
        "openpi": "the mapping 'panda_sim-openpi' is not for this server: it has no observation/image",
        "groot": "video of the server left, of the mapping image, wrist_image",
    }
    with (
        asked(tmp_path, wire, "--says", says[wire]) as (backend, _),
        pytest.raises(PolicyError, match=re.escape(told[wire])),
    ):
        backend.reset(EPISODE)


def test_another_rate_than_the_server_s_is_told(tmp_path: Path) -> None:
    with asked(tmp_path, "openpi", "--says", '{"fps": 10}') as (backend, _):
        assert "gives 10 actions per second, the mapping 'panda_sim-openpi' says 20" in backend.reset(EPISODE)


MOODS = {
    "nan": r"numbers that are not finite",
    "wide": r"has 9 columns: the mapping has 7|has 5 columns|has 3 columns: the mapping has 1|has \d columns",
    "flat": r"must have 2 dimensions|the mapping has 3",
    "garbage": r"is no MessagePack",
    "oversize": r"too large|more than 67 MB",
    "pickle": r"is no MessagePack|has|a pickle",
    "torch": r"is no MessagePack|a pickle",
    "word": r"is no map but str|is str and no actions",
    "bomb": r"nested too deeply",
    "text": r"tells an error: KeyError: 'observation/image'|tells an error: KeyError: 'video.image'",
    "empty": r"there is no (actions|position)",
    "drop": r"has ended the connection|tells an error: ERROR",
}


@EACH
def test_each_bad_answer_is_told_in_a_line_and_the_next_good_one_taken(tmp_path: Path, wire: str) -> None:
    with asked(tmp_path, wire, timeout_s=5.0) as (backend, server):
        backend.reset(EPISODE)
        backend.infer(given(1))
        for mood, told in MOODS.items():
            server.be(mood)
            with pytest.raises(PolicyError, match=told) as error:
                backend.infer(given(2))
            assert str(error.value).startswith(
                f"the {'openpi' if wire == 'openpi' else 'GR00T'} server {server.server} "
            ), mood
            assert "\n" not in str(error.value)
            server.be("good")
            assert backend.infer(given(3)).shape == (16, 7), mood


@EACH
def test_a_killed_server_is_told_and_found_again(tmp_path: Path, wire: str) -> None:
    with asked(tmp_path, wire, timeout_s=1.0) as (backend, server):
        backend.reset(EPISODE)
        server.kill()
        told = "cannot be reached: .*"
        if wire == "groot":  # on a busy machine a request may leave before it is noticed that nobody is there any more
            told = f"({told}|has not answered for .*)"
        with pytest.raises(PolicyError, match=f"{told}; it is tried again"):
            backend.infer(given(1))
        server.start()
        assert backend.infer(given(2)).shape == (16, 7)


@EACH
def test_a_server_that_comes_back_within_the_time_is_not_missed(tmp_path: Path, wire: str) -> None:
    with asked(tmp_path, wire) as (backend, server):
        backend.reset(EPISODE)
        server.kill()
        threading.Timer(0.5, server.start).start()
        assert backend.infer(given(1)).shape == (16, 7)


@EACH
def test_a_hung_server_is_given_up_in_time_and_found_again(tmp_path: Path, wire: str) -> None:
    with asked(tmp_path, wire, timeout_s=1.0) as (backend, server):
        backend.reset(EPISODE)
        server.hang(True)
        with pytest.raises(PolicyError, match=r"has not answered|does not take the connection|cannot be reached"):
            backend.infer(given(1))
        server.hang(False)
        assert backend.infer(given(2)).shape == (16, 7)


@pytest.mark.nightly
def test_a_hung_server_with_full_buffers_does_not_hold_up_the_sender(tmp_path: Path) -> None:
    views = {view: np.random.default_rng(0).integers(0, 256, (1600, 1600, 3), np.uint8) for view in PANDA.views}
    large = PolicyInput(1, views, [], np.zeros(8), "push", np.empty((0, 0), np.float32), felt=felt(1))
    mapping = tmp_path / "large.yaml"
    mapping.write_text(
        "speaks: openpi\ninstruction: prompt\npictures: {observation/image: third_person, other: wrist}\n"
        "state: {observation/state: [{part: position}]}\n"
        "actions: {actions: [{part: position}, {part: rotation}, {part: gripper}]}\n"
    )
    with asked(tmp_path, "openpi", timeout_s=1.5, mapping=str(mapping)) as (backend, server):
        backend.reset(EPISODE)
        server.hang(True)
        with pytest.raises(PolicyError, match="the openpi server"):
            backend.infer(large)
        server.hang(False)
        server.kill()
        server.start()
        assert backend.infer(given(2)).shape == (16, 7)


@EACH
def test_a_late_answer_is_never_taken_for_that_to_the_next_question(tmp_path: Path, wire: str) -> None:
    with asked(tmp_path, wire, *START[wire], "--echo", timeout_s=1.0) as (backend, server):
        backend.reset(EPISODE)
        server.be("late 1.5")
        with pytest.raises(PolicyError, match="has not answered"):
            backend.infer(given(7))
        server.be("good")
        time.sleep(0.8)  # it has answered meanwhile
        assert np.allclose(backend.infer(given(3))[:, 1], 0.03, atol=1e-6)
        assert np.allclose(backend.infer(given(4))[:, 1], 0.04, atol=1e-6)


@EACH
def test_a_token_is_wanted(tmp_path: Path, wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = (*START[wire], "--token", "right")
    with asked(tmp_path, wire, *options, token="wrong") as (backend, server):
        with pytest.raises(PolicyError, match=r"wrong key|wants a token, and this is not it"):
            backend.reset(EPISODE)
        monkeypatch.setenv(TOKEN, "right")
        settings = {"server": server.server, "timeout_s": 20.0}
        assert open_backend(wire, CONTEXT, settings).infer(given(1)).shape == (16, 7)
    assert "wrong" not in repr(BACKENDS.options_of(wire, {"token": "wrong"}))


def test_an_openpi_address_at_which_something_else_listens_is_told(tmp_path: Path) -> None:
    with double(tmp_path / "groot", "groot") as server:
        address = server.server.replace("tcp", "ws")
        backend = open_backend("openpi", CONTEXT, {"server": address, "timeout_s": 0.5})
        with pytest.raises(PolicyError, match=r"the openpi server ws://127\.0\.0\.1"):
            backend.reset(EPISODE)


@pytest.mark.parametrize(
    ("wire", "settings", "told"),
    [
        ("openpi", {"server": "tcp://host:1"}, "is like ws://localhost:8000"),
        ("openpi", {"server": "ws://host:99999999"}, "is like ws://localhost:8000"),
        ("openpi", {"server": "localhost"}, "is like ws://localhost:8000"),
        ("groot", {"server": "ws://host:1"}, "is like tcp://localhost:5555"),
        ("groot", {"server": "tcp://host:1:2"}, "is like tcp://localhost:5555"),
        ("openpi", {"mapping": "absent"}, "no mapping 'absent'"),
        ("groot", {"mapping": "panda_sim-libero"}, "for servers that speak openpi"),
        ("openpi", {"token": "two words"}, "token must be"),
        ("groot", {"token": "schl\u00fcssel"}, "token must be"),
    ],
)
def test_settings_that_cannot_be_are_told_before_anything_starts(
    wire: str, settings: dict[str, str], told: str
) -> None:
    with pytest.raises(PolicyError, match=re.escape(told)):
        open_backend(wire, CONTEXT, settings)


@EACH
@pytest.mark.parametrize(
    "spoil",
    [
        lambda g: PolicyInput(1, {}, [], g.state, "", g.frozen, felt=g.felt),
        lambda g: PolicyInput(1, g.views, [], g.state, "", g.frozen),
    ],
    ids=["no views", "nothing felt"],
)
def test_what_is_missing_here_is_told(tmp_path: Path, wire: str, spoil: Callable[[PolicyInput], PolicyInput]) -> None:
    server = {"openpi": "ws://localhost:9", "groot": "tcp://localhost:9"}[wire]
    backend = open_backend(wire, CONTEXT, {"server": server})
    with pytest.raises(
        PolicyError, match=r"shows third_person, wrist: there is none here|the measured state is missing"
    ):
        backend.infer(spoil(given(1)))
