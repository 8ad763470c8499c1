"""The tests start beside an installed ROS 2, whose plugins for pytest are older than the pytest of the lock."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = {"launch_testing": "old_launch_hooks", "launch_ros": "old_launch_ros_hooks"}
"""Entry points of the distributions launch_testing and launch_testing_ros, and the modules that stand for theirs."""
OLD_HOOK = "def pytest_pycollect_makemodule(path, parent):\n    return None\n"
"""`path` was an argument of this hook until pytest 8."""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder of packages with both plugins in it."""
    folder = tmp_path / "site"
    for name, module in PLUGINS.items():
        metadata = folder / f"{name}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[pytest11]\n{name} = {module}\n")
        (folder / f"{module}.py").write_text(OLD_HOOK)
    return folder


def collect(tmp_path: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    test = tmp_path / "test_one.py"
    test.write_text("def test_one(): pass\n")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *options, str(test)]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    "there",
    [
        pytest.param(True, id="with the plugins"),
        pytest.param(False, id="without them", marks=pytest.mark.nightly),
    ],
)
def test_tests_are_collected(tmp_path: Path, installed: Path, there: bool) -> None:
    path = os.pathsep.join([str(installed)] * there + [os.environ.get("PYTHONPATH", "")])
    result = collect(tmp_path, "-c", str(ROOT / "pyproject.toml"), PYTHONPATH=path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 test collected" in result.stdout


def test_the_plugins_would_break_a_plain_pytest(tmp_path: Path, installed: Path) -> None:
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    result = collect(tmp_path, "-c", os.devnull, "--rootdir", str(tmp_path), PYTHONPATH=path)
    assert result.returncode != 0
    assert "PluginValidationError" in result.stdout + result.stderr
