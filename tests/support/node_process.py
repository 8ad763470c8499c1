"""A module of a test as the process of a node, started as the stack's own are."""

import os
import subprocess
import sys
from pathlib import Path


def start_node(folder: Path, source: str, **environment: str) -> subprocess.Popen[str]:
    """Write `source`, which has a `main`, into `folder`, and run it through the entry point of nodes."""
    (folder / "node_of_a_test.py").write_text(source)
    return subprocess.Popen(
        [sys.executable, "-c", "from kc_vla.ros.entry import run; run('node_of_a_test')"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
