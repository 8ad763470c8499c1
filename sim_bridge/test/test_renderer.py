"""What is said where no Vulkan driver can be used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kc_vla_sim.errors import RendererError
from kc_vla_sim.renderer import choose_renderer


def test_some_renderer_is_found() -> None:
    assert choose_renderer("auto") in ("sapien_cpu", "sapien_cuda")
    assert choose_renderer("cpu") == "sapien_cpu"


def test_an_unknown_renderer_is_named() -> None:
    with pytest.raises(RendererError, match="unknown renderer 'metal'"):
        choose_renderer("metal")


def test_without_a_driver_one_line_says_what_to_install(tmp_path: Path) -> None:
    """Run in a process of its own: the drivers are looked up once in each."""
    missing = str(tmp_path / "none.json")
    result = subprocess.run(
        [sys.executable, "-m", "kc_vla.cli", "sim", "check"],
        env={**os.environ, "VK_ICD_FILENAMES": missing, "VK_DRIVER_FILES": missing},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "kc-vla sim check: no usable Vulkan driver: "
        "run ./setup.sh, which installs one, or install the system's mesa-vulkan-drivers "
        "(Mesa 25 or newer, no GPU needed)"
    ]
