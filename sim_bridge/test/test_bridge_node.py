"""What the bridge cannot start with: one line that says why, and an exit code that says that it cannot start."""

from __future__ import annotations

from pathlib import Path

import pytest
from node_process import running

CANNOT_START = 2


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"image_size": 0}, "parameter 'image_size' is 0: allowed is"),
        ({"simulator": "abacus"}, "parameter 'simulator' is 'abacus': "),
        ({"simulator": "maniskill"}, "no usable Vulkan driver: run ./setup.sh"),
    ],
    ids=str,
)
def test_it_says_why_it_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parameters: dict[str, object], line: str
) -> None:
    for name in ("VK_ICD_FILENAMES", "VK_DRIVER_FILES"):
        monkeypatch.setenv(name, str(tmp_path / "no_driver.json"))
    with running("kc_vla_sim.nodes.maniskill_bridge", tmp_path / "log", **parameters) as process:
        assert process.wait(60) == CANNOT_START
    said = (tmp_path / "log").read_text()
    assert line in said
    assert "Traceback" not in said
