"""Every benchmark still measures: what it measures changes, and nobody runs it for weeks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = sorted(
    path.stem for path in (ROOT / "tests" / "benchmarks").glob("*.py") if "\ndef measure(" in path.read_text()
)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_measures_and_leaves_a_table(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.benchmarks", name, "--quick", "--output", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-4000:]
    assert (tmp_path / f"{name}.md").read_text() in run.stdout
    assert (tmp_path / f"{name}.json").stat().st_size > 0
