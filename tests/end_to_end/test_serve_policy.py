"""`kc-vla serve policy`: the policy that comes with the stack, asked by others' clients, and by a second stack."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from finished_run import FinishedRun, assert_succeeded
from policy_clients import OpenPiClient, ask_groot, libero, n15, n16
from stack import Stack

from kc_vla.core.tasks import TASKS
from kc_vla.policy.options import TOKEN

TEXT = TASKS["counting"].instruction
CLIENT = textwrap.dedent(
    """
    import sys
    import numpy as np
    from openpi_client import action_chunk_broker, image_tools, websocket_client_policy

    port, text = int(sys.argv[1]), sys.argv[2]
    policy = websocket_client_policy.WebsocketClientPolicy("127.0.0.1", port, api_key="secret")
    assert policy.get_server_metadata()["protocol"] == "openpi"
    camera = np.random.default_rng(0).integers(0, 256, (480, 640, 3), dtype=np.uint8)
    picture = image_tools.convert_to_uint8(image_tools.resize_with_pad(camera, 224, 224))
    observation = {
        "observation/image": picture,
        "observation/wrist_image": picture,
        "observation/state": np.array([0.5, 0, 0.2, np.pi, 0, 0, 0.02, -0.02]),
        "prompt": text,
    }
    answer = policy.infer(observation)
    assert answer["actions"].shape == (16, 7) and np.isfinite(answer["actions"]).all(), answer
    broker = action_chunk_broker.ActionChunkBroker(policy, action_horizon=5)
    rows = [broker.infer(observation)["actions"] for _ in range(7)]
    assert all(row.shape == (7,) for row in rows)
    np.save(sys.argv[3], picture)
    np.save(sys.argv[4], camera)
    try:
        policy.infer({**observation, "prompt": "fly to the moon"})
    except RuntimeError as error:
        assert "does not know what to do for 'fly to the moon'" in str(error), error
    else:
        raise AssertionError("it was to be refused")
    print("answered", len(rows))
    """
)


@contextmanager
def serving(*words: str, **environment: str) -> Iterator[str]:
    """The address of a server that runs as a user starts it; it ends with Ctrl-C, without a traceback."""
    program = shutil.which("kc-vla")
    assert program
    process = subprocess.Popen(
        [program, "serve", "policy", "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        found = re.match(r"(\w+://127\.0\.0\.1:\d+): serves the policy 'policy' of a panda_sim, as the mapping ", told)
        assert found, (told, process.stderr and process.stderr.read())
        yield found[1]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
    finally:
        process.kill()
        process.wait()


def test_openpi_s_clients_are_answered() -> None:
    with serving("--protocol", "openpi") as where, OpenPiClient(where) as client:
        assert client.metadata["robot"] == "panda_sim"
        answers = [client.ask(libero(shade, TEXT)) for shade in (60, 90)]
        refused = client.ask(libero(60, "fly to the moon"))
    for answer in answers:
        assert answer["actions"].shape == (16, 7)
        assert np.isfinite(answer["actions"]).all()
        assert np.abs(answer["actions"][:, :3]).max() < 0.1
    assert "does not know what to do for 'fly to the moon'" in refused


def test_groot_s_clients_are_answered_in_both_dialects() -> None:
    with serving("--protocol", "groot", **{TOKEN: "secret"}) as where:
        token = {"api_token": "secret"}
        flat, nested, history, refused = ask_groot(
            where,
            n15([60], TEXT, **token) | token,
            n16([60], TEXT) | token,
            n16([30, 60, 90], TEXT) | token,
            n16([60], TEXT),
        )
    assert flat["action.position"].shape == (16, 3)
    for actions, _ in (nested, history):
        assert actions["position"].shape == (1, 16, 3)
        assert np.isfinite(actions["position"]).all()
    assert refused == {"error": "Unauthorized: Invalid API token"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--protocol", "openpi", "--host", "0.0.0.0"], "needs a token"),
        (["--protocol", "openpi", "--mapping", "panda_sim-droid"], "the mapping 'panda_sim-droid' has joint_position"),
        (["--protocol", "groot", "--name", "absent"], "no model 'absent'"),
        (["--protocol", "groot", "--robot", "piper"], "this robot is a 'piper'"),
        (["--protocol", "groot", "--host", "no.such.host", "--token", "x"], "cannot listen at no.such.host, port 5555"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_line(words: list[str], told: str) -> None:
    program = shutil.which("kc-vla")
    assert program
    done = subprocess.run([program, "serve", "policy", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert told in done.stderr
    assert done.stderr.startswith("kc-vla serve policy: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.nightly  # its links: test_serving.py
@pytest.mark.timeout(900)
@pytest.mark.parametrize("wire", ["openpi", "groot"])
def test_a_second_stack_acts_by_it_as_by_its_own(launch: Callable[..., Stack], wire: str) -> None:
    """A whole episode in the simulator, seen, remembered and done over the wire."""
    with serving("--protocol", wire) as where:
        stack = launch(policy=wire, server=where, seed=3, simulator="maniskill", image_size=256, report="summary")
        run = FinishedRun.of(stack)
    assert run.exit_code == 0, run.text
    assert_succeeded(run.episode)
    times = run.summary["latency_ms"]["policy_server"]
    assert times["round_trip"]["count"] > 0


@pytest.mark.nightly  # it makes an environment of its own; what the client sends: test_serving.py
@pytest.mark.timeout(900)
def test_the_real_client_of_openpi_is_answered(tmp_path: Path) -> None:
    """`openpi-client` of PyPI wants numpy below 2, which this stack's environment cannot have."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    # it imports typing_extensions, and does not ask for it
    needs = ["openpi-client==0.1.2", "typing_extensions"]
    subprocess.run([venv / "bin/pip", "install", "--quiet", *needs], check=True, env=clean)
    with serving("--protocol", "openpi", "--token", "secret") as where:
        port = where.rpartition(":")[2]
        command = [venv / "bin/python", "-c", CLIENT, port, TEXT, tmp_path / "padded.npy", tmp_path / "camera.npy"]
        done = subprocess.run(command, capture_output=True, text=True, env=clean, check=False)
    assert (done.returncode, done.stdout) == (0, "answered 7\n"), done.stderr
    from kc_vla.policy.remote.image_format import resized_with_pad

    padded, camera = (np.load(tmp_path / f"{name}.npy") for name in ("padded", "camera"))
    assert np.array_equal(resized_with_pad(camera, 224, 224), padded)  # its very pixels
