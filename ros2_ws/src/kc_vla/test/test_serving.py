"""A policy served to clients of openpi and GR00T: their own codecs and sockets on the other side."""

from __future__ import annotations

import urllib.request
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
import zmq
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from policy_clients import OpenPiClient, ask_groot, libero, n15, n16
from served_policies import PANDA, SLOTS, Listening, listening, served
from websockets.exceptions import ConnectionClosed

from kc_vla.core.episode import Episode
from kc_vla.policy.backends import PolicyContext, open_backend
from kc_vla.policy.interface import PolicyError, PolicyInput, Proprioception, RememberedFrame
from kc_vla.policy.remote import codec_groot, codec_openpi
from kc_vla.policy.remote.mapping_file import load_mapping, shipped_mappings
from kc_vla.policy.remote.wire import WireError
from kc_vla.policy.serving.groot import GrootServer
from kc_vla.policy.serving.openpi import OpenPiServer
from kc_vla.policy.serving.served import Client, Served, ServingError


def test_openpi_s_client_is_told_what_it_can_ask_and_gets_actions() -> None:
    backend, policy = served("openpi")
    with listening(OpenPiServer(policy)) as where:
        with OpenPiClient(where) as client:
            assert client.metadata["reset"] is True
            assert client.metadata["memory"] == {"max_keyframes": SLOTS, "order": "oldest_first", "keeps": True}
            first, second = client.ask(libero(1)), client.ask(libero(2))
            assert client.ask({"reset": True}) == {"reset_finished": True}
            third = client.ask(libero(3))
        health = urllib.request.urlopen(where.replace("ws", "http") + "/healthz", timeout=30)
        assert (health.status, health.read()) == (200, b"OK\n")
    assert first["actions"].shape == (16, 7)
    assert first["server_timing"]["infer_ms"] >= 0
    assert "prev_total_ms" in second["server_timing"]
    # what a client shows first is a keyframe, as in the stack
    assert [len(asked.keyframes) for asked in backend.asked] == [0, 1, 0]
    assert second["actions"][0, 0] == pytest.approx(1e-3)
    assert third["actions"][0, 0] == 0
    now = backend.asked[0]
    assert np.allclose(now.state, [0.5, 0, 0.2, 1, 0, 0, 0, 0.5], atol=1e-6)
    assert now.views["wrist"].shape == (224, 224, 3)
    assert (now.instruction, len(backend.episodes)) == ("push", 2)


def ours(number: int, frames: list[int], frozen: int = 0) -> PolicyInput:
    def seen(frame: int) -> RememberedFrame:
        views = {view: np.full((48, 64, 3), frame + 1, np.uint8) for view in PANDA.views}
        felt = Proprioception(np.array([0.01 * frame, 0, 0.2, 1, 0, 0, 0]), np.array([0.0] * 7 + [0.02, 0.02]))
        return RememberedFrame(frame, views, np.zeros(8), felt)

    now = seen(number)
    runs = np.full((frozen, 7), 0.02, np.float32) if frozen else np.empty((0, 0), np.float32)
    return PolicyInput(number, now.views, [seen(frame) for frame in frames], now.state, "push", runs, felt=now.felt)


@pytest.mark.parametrize("wire", ["openpi", "groot"])
def test_our_own_backend_at_our_own_server_is_as_good_as_at_home(wire: str) -> None:
    backend, policy = served(wire)
    server = OpenPiServer(policy) if wire == "openpi" else GrootServer(policy)
    with listening(server) as where:
        remote = open_backend(wire, PolicyContext(PANDA, 16), {"server": where, "timeout_s": 30.0})
        remote.reset(Episode("one", "counting", "push", 0, 50_000_000, True))
        for number, frames in (40, [0, 10]), (45, [0, 10, 41]), (50, [0, 10, 41]):
            asked = ours(number, frames, frozen=2)
            chunk = remote.infer(asked)
            got = backend.asked[-1]
            assert np.allclose(chunk[:, 0], 1e-3 * len(frames))
            assert got.instruction == "push"
            assert np.allclose(got.state[:3], [0.01 * number, 0, 0.2], atol=1e-6)
            assert got.state[7] == pytest.approx(0.5)
            for sent, shown in zip(asked.keyframes, got.keyframes, strict=True):
                middle = shown.views["third_person"][shown.views["third_person"].shape[0] // 2, 0]
                assert middle.tolist() == [sent.frame + 1] * 3
                assert shown.state[0] == pytest.approx(0.01 * sent.frame, abs=1e-6)
            if wire == "openpi":
                assert [seen.frame for seen in got.keyframes] == frames
                assert np.allclose(got.frozen, asked.frozen, atol=1e-6)
    numbers = [[seen.frame for seen in asked.keyframes] for asked in backend.asked]
    assert numbers[1] == numbers[2]  # of the same keyframe, so that a network looks at it once
    assert numbers[0] == numbers[1][:2]


@pytest.mark.parametrize("dialect", ["n1.5", "n1.6"])
def test_groot_s_clients_of_both_dialects_are_answered(dialect: str) -> None:
    backend, policy = served("groot")
    with listening(GrootServer(policy, dialect=dialect)) as where:
        ask = [
            {"endpoint": "ping"},
            {"endpoint": "get_modality_config"},
            n15([1]),
            n16([1]),
            n16([1, 1, 1, 5, 9]),
            n15([0, 0, 3, 9], obs_mask=[0, 0, 1, 1]),
            {"endpoint": "reset", "data": {"options": None}},
        ]
        ping, modalities, flat, nested, history, masked, reset = ask_groot(where, *ask)
    assert ping["status"] == "ok"
    said = modalities["video"]["as_json"]
    assert isinstance(said, dict if dialect == "n1.6" else str)
    assert flat["action.position"].shape == (16, 3)
    actions, info = nested
    assert {name: (values.shape, values.dtype) for name, values in actions.items()} == {
        "position": ((1, 16, 3), np.float32),
        "rotation": ((1, 16, 3), np.float32),
        "gripper": ((1, 16, 1), np.float32),
    }
    assert info["server_timing"]["infer_ms"] >= 0
    assert [len(asked.keyframes) for asked in backend.asked] == [0, 1, 2, 1]  # padding is none
    assert history[0]["position"][0, 0, 0] == pytest.approx(2e-3)
    assert masked["action.position"][0, 0] == pytest.approx(1e-3)
    assert "error" not in reset


def test_the_words_around_the_instruction_are_no_part_of_it() -> None:
    backend, policy = served("groot")
    with listening(GrootServer(policy)) as where:
        ask_groot(where, n16([1], policy.mapping.told("push the cube")))
    assert backend.asked[0].instruction == "push the cube"


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (libero(text="fly"), "does not know how to 'fly'"),
        ({"prompt": "push"}, "there is no observation/image"),
        ({**libero(), "prompt": 3}, "there is no text prompt"),
        ({**libero(), "observation/state": np.full(8, np.nan, np.float32)}, "not finite"),
        ({**libero(), "observation/state": np.zeros(7, np.float32)}, "7 numbers: expected are 8"),
        ({**libero(), "observation/image": np.zeros((4, 4), np.uint8)}, "an image has the type uint8"),
        ({**libero(), "observation/image": np.zeros((4, 4, 3), np.float32)}, "an image has the type uint8"),
        (
            libero(**{"keyframes/frames": np.array([3]), "keyframes/new": np.array([], np.int64)}),
            "keyframes 3 were not shown",
        ),
        (libero(**{"keyframes/frames": np.array([3, 1]), "keyframes/new": np.array([], np.int64)}), "the oldest first"),
        (
            libero(**{"keyframes/frames": np.arange(9), "keyframes/new": np.array([], np.int64)}),
            "up to 5 whole numbers",
        ),
        (
            libero(**{"keyframes/frames": np.array([3]), "keyframes/new": np.array([3])}),
            "there is no observation/image",
        ),
        (libero(prev_actions=np.zeros((2, 9), np.float32)), "9 columns: the mapping has 7"),
        (libero(frame=-1), "frame is no number"),
        ([1, 2], "a request must be a map"),
    ],
)
def test_openpi_s_bad_requests_are_answered_in_a_line_and_others_go_on(request_: Any, told: str) -> None:
    _, policy = served("openpi")
    with listening(OpenPiServer(policy)) as where:
        with OpenPiClient(where) as client:
            answer = client.ask(request_)
            assert isinstance(answer, str)
            assert told in answer
            assert "\n" not in answer
            with pytest.raises(ConnectionClosed) as closed:
                client.socket.recv(timeout=30)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1011
        with OpenPiClient(where) as client:
            assert client.ask(libero())["actions"].shape == (16, 7)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (n16([1], "fly"), "does not know how to 'fly'"),
        ({"endpoint": "get_action"}, "has no data"),
        ({"endpoint": "get_action", "data": {"observation": {"video": {}}}}, "there is no video image"),
        ({"endpoint": "get_action", "data": {"video.image": np.zeros((3, 3), np.uint8)}}, "video.image has the shape"),
        (
            {"endpoint": "get_action", "data": {**n15([1])["data"], "annotation.human.task_description": []}},
            "there is no text",
        ),
        ({"endpoint": "kill"}, "no client ends this server"),
        ({"endpoint": "fly"}, "Unknown endpoint: fly"),
        ({"endpoint": np.zeros(3)}, "an endpoint must be a text, not ndarray"),
        ([], "a request must be a map"),
    ],
)
def test_groot_s_bad_messages_are_answered_in_a_line_and_it_goes_on(message: Any, told: str) -> None:
    _, policy = served("groot")
    with listening(GrootServer(policy)) as where:
        error, good = ask_groot(where, message, n16([1]))
    assert told in error["error"]
    assert len(good) == 2


def test_garbage_on_a_groot_socket_is_answered_and_no_pickle_is_opened(tmp_path: Any) -> None:
    _, policy = served("groot")
    with listening(GrootServer(policy)) as where, zmq.Context() as context, context.socket(zmq.REQ) as sock:
        sock.connect(where)
        for garbage in (b"\xc1", b"PK\x03\x04", b"\x80\x02c", b""):
            sock.send(garbage)
            assert "error" in codec_groot.decode(sock.recv())
        with context.socket(zmq.PUSH) as other:  # it is of a kind that cannot be answered
            other.setsockopt(zmq.LINGER, 0)
            other.connect(where)
        sock.send(codec_groot.encode({"endpoint": "ping"}))
        assert codec_groot.decode(sock.recv())["status"] == "ok"


@pytest.mark.parametrize(
    ("server", "asked"), [("panda_sim-openpi", "panda_sim-libero"), ("panda_sim-libero", "panda_sim-openpi")]
)
def test_a_mapping_of_the_same_names_with_other_numbers_moves_no_arm(server: str, asked: str) -> None:
    policy = Served(Listening(), load_mapping(server, PANDA, "openpi"), SLOTS)
    with listening(OpenPiServer(policy)) as where:
        settings = {"server": where, "mapping": asked, "timeout_s": 30.0}
        remote = open_backend("openpi", PolicyContext(PANDA, 16), settings)
        with pytest.raises(PolicyError, match=f"'{asked}' is not for this server: there .* is .position"):
            remote.reset(Episode("one", "counting", "push", 0, 50_000_000, True))


def test_a_mapping_that_leaves_out_what_the_server_also_tells_is_taken(tmp_path: Path) -> None:
    content = yaml.safe_load(shipped_mappings()["panda_sim-openpi"].read_text())
    content["state"]["observation/state"][2] = {"part": "constant", "values": [0.02, -0.02]}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    backend, policy = served("openpi")
    with listening(OpenPiServer(policy)) as where:
        settings = {"server": where, "mapping": str(tmp_path / "mine.yaml"), "timeout_s": 30.0}
        remote = open_backend("openpi", PolicyContext(PANDA, 16), settings)
        assert remote.reset(Episode("one", "counting", "push", 0, 50_000_000, True)) == ""
        remote.infer(ours(1, []))
    assert backend.asked[0].state[7] == pytest.approx(0.5)


def test_a_mapping_that_does_not_tell_what_the_policy_needs_is_refused() -> None:
    droid = load_mapping("panda_sim-droid", PANDA, "openpi")
    with pytest.raises(
        ServingError, match="the policy gives tool_delta, the mapping 'panda_sim-droid' has joint_position"
    ):
        Served(Listening(), droid, SLOTS)
    usual = load_mapping("", PANDA, "openpi")
    with pytest.raises(ServingError, match="has no gripper, position, rotation in its state"):
        Served(Listening(), replace(usual, state={}), SLOTS)


plain = st.none() | st.integers(-5, 5) | st.floats() | st.text(max_size=5) | st.binary(max_size=5)
array = st.sampled_from(
    [
        np.zeros(0, np.int64),
        np.arange(3),
        np.zeros((1, 2, 2, 3), np.uint8),
        np.zeros((1, 3), np.float32),
        np.full((224, 224, 3), 1, np.uint8),
    ]
)
names = st.sampled_from(
    [
        "endpoint",
        "data",
        "observation",
        "video",
        "state",
        "image",
        "position",
        "video.image",
        "state.position",
        "language",
        "keyframes/frames",
        "keyframes/new",
        "keyframes/observation/image",
        "observation/image",
        "prompt",
        "frame",
        "prev_actions",
        "reset",
        "obs_mask",
    ]
)
anything = st.recursive(
    plain | array, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4), max_leaves=8
)


@tried(300, 1500)
@given(anything, st.sampled_from([{}, libero(), n15([1])["data"]]))
def test_any_request_is_answered_or_refused_in_words(said: Any, good: dict[str, Any]) -> None:
    request = {**good, **said} if isinstance(said, dict) else said
    for act in (
        lambda: OPENPI._answer(Client(), codec_openpi.encode(request), None),
        lambda: GROOT._answer(Client(), codec_groot.encode({"endpoint": "get_action", "data": request})),
        lambda: GROOT._answer(Client(), codec_groot.encode(request)),
    ):
        with suppress(WireError, PolicyError):
            act()


OPENPI, GROOT = OpenPiServer(served("openpi")[1]), GrootServer(served("groot")[1])
