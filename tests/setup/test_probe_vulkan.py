"""The probe names the device that the simulator will use, or the reason why there is none."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "setup" / "probe_vulkan.py"


def _probe(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_this_machine_has_a_device() -> None:
    result = _probe()
    assert result.returncode == 0, result.stdout
    assert len(result.stdout.splitlines()) == 1


def test_a_machine_without_a_driver_is_told_so() -> None:
    result = _probe(VK_ICD_FILENAMES="/nowhere/driver.json", VK_DRIVER_FILES="/nowhere/driver.json")
    assert result.returncode == 1
    assert result.stdout == "no Vulkan driver is installed\n"
    assert result.stderr == ""
