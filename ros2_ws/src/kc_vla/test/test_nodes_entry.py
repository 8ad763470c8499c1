import os
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from node_process import start_node

from kc_vla import nodes
from kc_vla.ros import entry


def test_an_interrupt_while_a_node_loads_ends_it_without_a_traceback(tmp_path: Path) -> None:
    process = start_node(tmp_path, "import time\nprint('loading', flush=True)\ntime.sleep(600)\n")
    assert process.stdout is not None
    assert process.stdout.readline() == "loading\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert errors == ""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("spared", "loading"),
    [
        (("scipy", "networkx", "can", "piper_sdk"), ("arm_controller", "camera", "episode_runner")),
        (("scipy", "networkx", "onnxruntime", "tokenizers"), ("policy_server", "short_term_memory")),
    ],
)
def test_a_node_loads_nothing_at_its_start_that_only_some_arms_models_or_memories_need(
    spared: tuple[str, ...], loading: tuple[str, ...]
) -> None:
    modules = ", ".join(f"kc_vla.nodes.{node}" for node in loading)
    loaded = f"import sys, {modules}; print(*{{*{spared}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == ""


def test_numpy_takes_one_thread_in_a_node_unless_the_user_wants_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = "import os, numpy\n\ndef main(): print(len(os.listdir('/proc/self/task')))\n"
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    threads = []
    for wanted in ({}, {"OPENBLAS_NUM_THREADS": "3"}):
        process = start_node(tmp_path, probe, **wanted)
        said, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        threads.append(int(said))
    assert threads[1] > threads[0] or os.cpu_count() == 1


def test_every_node_has_its_entry_point() -> None:
    files = Path(nodes.__file__).parent.glob("*.py")
    names = {path.stem for path in files if "run_node(" in path.read_text()}
    assert names
    assert all(hasattr(entry, node) for node in names)
    points = {point.name: point.value for point in entry_points(group="console_scripts")}
    assert {node: points.get(node) for node in names} == {node: f"kc_vla.ros.entry:{node}" for node in names}
