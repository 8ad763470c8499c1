import os
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from kc_vla.nodes import entry


def test_an_interrupt_while_a_node_loads_ends_it_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "slow_node.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(600)\n")
    process = subprocess.Popen(
        [sys.executable, "-c", "from kc_vla.nodes.entry import run; run('slow_node')"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "loading\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert errors == ""
    assert process.returncode == 0


def test_every_node_has_its_entry_point() -> None:
    folder = Path(entry.__file__).parent
    nodes = {path.stem for path in folder.glob("*.py") if "run_node(" in path.read_text() and path.stem != "base"}
    assert nodes
    assert all(hasattr(entry, node) for node in nodes)
    points = {point.name: point.value for point in entry_points(group="console_scripts")}
    assert {node: points.get(node) for node in nodes} == {node: f"kc_vla.nodes.entry:{node}" for node in nodes}
