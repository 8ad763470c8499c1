"""The package as it is installed, with an emulated control box in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1]
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The package with its entry point, for this process and those that it starts; `pip install .` does the same."""
    if find_spec("xarm") is None:
        pytest.skip("xarm-python-sdk is missing: pip install xarm-python-sdk==1.18.4")
    if "xarm" in {point.name for point in entry_points(group="kc_vla.arms")}:
        yield
        return
    metadata = tmp_path_factory.mktemp("site") / "kc_vla_xarm-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: kc-vla-xarm\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[kc_vla.arms]\nxarm = kc_vla_xarm.row:XARM\n")
    folders = [str(metadata.parent), str(PACKAGE)]
    with pytest.MonkeyPatch.context() as patch:
        for folder in folders:
            patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])]))
        yield


@pytest.fixture
def box() -> Iterator[object]:
    """An emulated control box."""
    from control_box import ControlBox  # it is beside this file

    box = ControlBox()
    yield box
    box.close()
