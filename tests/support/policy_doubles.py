"""Policies' servers as openpi and GR00T have them, over real sockets, each a process of its own; they can misbehave.

Written from the protocols, with MessagePack and NumPy alone, so that what the stack says is read by somebody else. A
double pushes the toy robot's cube as soon as it was shown five keyframes, or plays recorded actions.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

ROWS, COLUMNS, SHOWN = 16, 7, 5
_PUSH = 0.01
_PATIENCE_S = 60.0


class Double:
    """A server in a process, seen from the test."""

    def __init__(self, folder: Path, *options: str) -> None:
        """Start it. `options` as of the command line; its mood and its notes are files in `folder`."""
        self.folder, self._options = folder, options
        folder.mkdir(parents=True, exist_ok=True)
        self.be("good")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def server(self) -> str:
        """Its address."""
        return f"{'ws' if self._options[0] == 'openpi' else 'tcp'}://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What it was asked so far."""
        file = self.folder / "notes"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def be(self, mood: str) -> None:
        """Answer so from now on."""
        part = self.folder / "mood.part"
        part.write_text(mood)
        part.rename(self.folder / "mood")

    def start(self, *options: str) -> None:
        """Start it, again, and wait until it listens."""
        command = [
            sys.executable,
            __file__,
            *self._options,
            *options,
            "--port",
            str(self.port),
            "--folder",
            str(self.folder),
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def kill(self) -> None:
        """End it without warning."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def hang(self, so: bool) -> None:
        """Have it stand still, or go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP if so else signal.SIGCONT)

    def close(self) -> None:
        """End it."""
        if self._process is not None and self._process.poll() is None:
            self.hang(False)
            self.kill()


@contextmanager
def double(folder: Path, *options: str) -> Iterator[Double]:
    """A server until it is left."""
    started = Double(folder, *options)
    try:
        yield started
    finally:
        started.close()


# -- the codecs, from their descriptions ------------------------------------------------------------------------------


def pack_openpi(values: Any) -> bytes:
    def plain(value: Any) -> Any:
        assert isinstance(value, np.ndarray)
        return {b"__ndarray__": True, b"data": value.tobytes(), b"dtype": value.dtype.str, b"shape": value.shape}

    return msgpack.packb(values, default=plain)


def unpack_openpi(frame: bytes) -> Any:
    def array(values: dict[Any, Any]) -> Any:
        if b"__ndarray__" in values:
            return np.ndarray(values[b"shape"], np.dtype(values[b"dtype"]), values[b"data"])
        return values

    return msgpack.unpackb(frame, object_hook=array)


def pack_groot(values: Any) -> bytes:
    def plain(value: Any) -> Any:
        assert isinstance(value, np.ndarray)
        file = io.BytesIO()
        np.save(file, value, allow_pickle=False)
        return {"__ndarray_class__": True, "as_npy": file.getvalue()}

    return msgpack.packb(values, default=plain)


def unpack_groot(message: bytes) -> Any:
    def array(values: dict[Any, Any]) -> Any:
        if "__ndarray_class__" in values:
            return np.load(io.BytesIO(values["as_npy"]), allow_pickle=False)
        return values

    return msgpack.unpackb(message, object_hook=array)


# -- what they do -----------------------------------------------------------------------------------------------------


class Acts:
    """What a double answers."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.played = np.load(options.actions) if options.actions else None
        self.at = 0

    @property
    def mood(self) -> list[str]:
        """Of now."""
        return (self.options.folder / "mood").read_text().split()

    def note(self, **found: Any) -> None:
        """Write down what was asked."""
        with (self.options.folder / "notes").open("a") as file:
            file.write(json.dumps(found) + "\n")

    def rows(self, shown: int, x: float) -> np.ndarray:
        """Actions (ROWS, COLUMNS) after `shown` keyframes, with the tool at `x`."""
        mood = self.mood[0]
        actions = np.zeros((ROWS, COLUMNS), np.float32)
        if self.played is not None:
            found = self.played[self.at : self.at + ROWS]
            actions[: len(found)] = found
            self.at += self.options.execute
        elif self.options.pose:
            actions[:] = self.options.pose
        elif self.options.echo:
            actions[:, 1] = x
        elif shown >= SHOWN:
            actions[:, 0] = _PUSH
        if mood == "nan":
            actions[3, 2] = np.nan
        if mood == "far":
            actions[:, 0] = 5.0
        if mood == "wide":
            actions = np.zeros((ROWS, COLUMNS + 2), np.float32)
        if mood == "flat":
            actions = actions.reshape(-1)
        return actions


GARBAGE = {
    "garbage": b"\xc1 nothing of the kind",
    "oversize": bytes(70 << 20),
    "pickle": pickle.dumps({"actions": 1}),
    "torch": b"PK\x03\x04 archive/data.pkl",
    "word": msgpack.packb("actions"),
    "bomb": b"\x91" * 900 + b"\xc0",
}


def openpi(acts: Acts) -> None:
    """Serve as openpi does: metadata first, then an answer for each observation."""
    from websockets.asyncio.server import serve

    options = acts.options
    metadata: dict[str, Any] = {}
    if options.memory:
        metadata = {"reset": True, "memory": {"max_keyframes": 8, "order": "oldest_first", "keeps": options.keeps}}
    if options.rtc:
        metadata["rtc"] = True
    if options.says:
        metadata |= json.loads(options.says)

    async def attend(connection: Any) -> None:
        given = connection.request.headers.get("Authorization", "")
        if options.token and given != f"Api-Key {options.token}":
            await connection.close(1008, "wrong key")
            return
        await connection.send(pack_openpi(metadata))
        async for frame in connection:
            asked = unpack_openpi(frame)
            mood = acts.mood
            if "reset" in asked:
                acts.note(reset=True)
                await connection.send(pack_openpi({"reset_finished": True}))
                continue
            state = asked["observation/state"]
            shown = len(asked["keyframes/frames"]) if "keyframes/frames" in asked else 0
            acts.note(
                bytes=len(frame),
                keys=sorted(asked),
                shown=shown,
                new=len(asked.get("keyframes/new", ())),
                frame=asked.get("frame"),
                prompt=asked["prompt"],
                delay=asked.get("inference_delay"),
            )
            actions = acts.rows(shown, float(state[0]))
            if mood[0] in ("slow", "late"):
                time.sleep(float(mood[1]))  # on the event loop, as the stock server
            if mood[0] == "drop":
                await connection.close()
            elif mood[0] == "text":
                await connection.send("Traceback (most recent call last):\n  File ...\nKeyError: 'observation/image'\n")
                await connection.close(1011, "Internal server error. Traceback included in previous frame.")
            elif mood[0] in GARBAGE:
                await connection.send(GARBAGE[mood[0]])
            elif mood[0] == "empty":
                await connection.send(pack_openpi({}))
            else:
                timing = {"infer_ms": 0.01}
                await connection.send(
                    pack_openpi({"actions": actions, "server_timing": timing, "policy_timing": timing})
                )

    async def run() -> None:
        async with serve(attend, "127.0.0.1", options.port, compression=None, max_size=None):
            print("ready", flush=True)
            await asyncio.get_running_loop().create_future()

    asyncio.run(run())


def groot(acts: Acts) -> None:
    """Serve as GR00T does: one request at a time."""
    import zmq

    options = acts.options
    sock = zmq.Context().socket(zmq.REP)
    sock.bind(f"tcp://127.0.0.1:{options.port}")
    print("ready", flush=True)
    while True:
        message = sock.recv()
        mood = acts.mood
        try:
            asked = unpack_groot(message)
            if options.token and asked.get("api_token") != options.token:
                sock.send(pack_groot({"error": "Unauthorized: Invalid API token"}))
                continue
            answer = _groot_answer(acts, asked, len(message))
        except (KeyError, AssertionError, ValueError) as error:
            sock.send(pack_groot({"error": f"{type(error).__name__}: {error}"}))
            continue
        if asked["endpoint"] != "get_action":
            sock.send(pack_groot(answer))
            continue
        if mood[0] in ("slow", "late"):
            time.sleep(float(mood[1]))
        if mood[0] in ("text", "drop"):
            sock.send(b"ERROR" if mood[0] == "drop" else pack_groot({"error": "KeyError: 'video.image'"}))
        elif mood[0] in GARBAGE:
            sock.send(GARBAGE[mood[0]])
        elif mood[0] == "empty":
            sock.send(pack_groot({}))
        else:
            sock.send(pack_groot(answer))


def _groot_answer(acts: Acts, asked: dict[str, Any], size: int) -> Any:
    options, endpoint = acts.options, asked["endpoint"]
    dialect, moments = options.dialect, options.moments
    nested = dialect == "n1.6"
    if endpoint == "ping":
        return {"status": "ok", "message": "Server is running"}
    if endpoint == "get_modality_config":
        if dialect == "kc-vla":
            raise KeyError("get_modality_config")
        return _modalities(nested, moments, json.loads(options.says) if options.says else {})
    if endpoint == "reset":
        assert nested, "Unknown endpoint: reset"
        acts.note(reset=True)
        return {}
    data = asked["data"]["observation"] if nested else asked["data"]
    parts = ("position", "rotation", "gripper")
    if nested:
        video, state = data["video"], data["state"]
        (texts,) = data["language"]["annotation.human.task_description"]
        assert all(v.shape[:2] == (1, moments) and v.dtype == np.uint8 and v.ndim == 5 for v in video.values())
        assert all(v.shape[:2] == (1, moments) and v.dtype == np.float32 and v.ndim == 3 for v in state.values())
        image, position = video["image"][0], state["position"][0]
    else:
        texts = data["annotation.human.task_description"]
        image, position = data["video.image"], data["state.position"]
        assert image.shape[0] == moments
        assert image.dtype == np.uint8
        assert data["state.rotation"].shape == (moments, 4)
    if dialect == "kc-vla":
        mask = data["obs_mask"]
        assert mask == sorted(mask)
        assert len(mask) == moments
        assert not image[: moments - sum(mask)].any()
        shown = sum(mask) - 1
    else:
        shown = moments - next((k for k in range(moments) if (image[k] != image[0]).any()), moments)
    acts.note(bytes=size, shown=shown, prompt=texts[0], first=int(image[0].max()), keys=sorted(data))
    rows = acts.rows(shown, float(position[-1][0]))
    if rows.ndim == 1:
        return {"action.position": rows}
    columns = dict(zip(parts, (rows[:, :3], rows[:, 3:6], rows[:, 6:]), strict=True))
    if dialect == "kc-vla":  # in ManiSkill's units
        columns["position"], columns["gripper"] = columns["position"] * 10, columns["gripper"] * 2 - 1
    if nested:
        return [{name: values[None] for name, values in columns.items()}, {"server_timing": {"infer_ms": 0.01}}]
    return {f"action.{name}": values for name, values in columns.items()}


def _modalities(nested: bool, moments: int, says: dict[str, list[str]]) -> dict[str, Any]:
    names = {
        "video": ["image", "wrist_image"],
        "state": ["position", "rotation", "gripper"],
        "action": ["position", "rotation", "gripper"],
        "language": ["annotation.human.task_description"],
        **says,
    }
    found = {}
    for kind, keys in names.items():
        prefix = "" if nested or kind == "language" else f"{kind}."
        deltas = list(range(ROWS)) if kind == "action" else [0] if kind == "language" else list(range(1 - moments, 1))
        said = {"delta_indices": deltas, "modality_keys": [prefix + key for key in keys]}
        found[kind] = {"__ModalityConfig_class__": True, "as_json": said if nested else json.dumps(said)}
    return found


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("wire", choices=["openpi", "groot"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--keeps", action="store_true")
    parser.add_argument("--rtc", action="store_true")
    parser.add_argument("--echo", action="store_true")
    parser.add_argument("--token", default="")
    parser.add_argument("--says", default="")
    parser.add_argument("--dialect", default="n1.6")
    parser.add_argument("--moments", type=int, default=6)
    parser.add_argument("--actions", default="")
    parser.add_argument("--execute", type=int, default=5)
    parser.add_argument("--pose", type=float, nargs=COLUMNS)
    options = parser.parse_args()
    {"openpi": openpi, "groot": groot}[options.wire](Acts(options))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
