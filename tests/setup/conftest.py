"""A copy of the set-up scripts to run, and a PATH on which programs can be missing or replaced."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from unset_clone import UnsetClone

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> UnsetClone:
    """Return an unset clone on a supported system whose PATH has every program of this machine."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in ("setup.sh", "env.sh"):
        shutil.copy2(ROOT / name, folder)
    for name in ("setup", "requirements"):
        shutil.copytree(ROOT / name, folder / name)
    programs = tmp_path / "programs"
    programs.mkdir()
    for directory in map(Path, os.environ["PATH"].split(os.pathsep)):
        # The environment that runs the tests is not the machine's.
        if directory.is_dir() and not (directory / "activate").is_file():
            for program in directory.iterdir():
                if not os.path.lexists(programs / program.name):
                    (programs / program.name).symlink_to(program)
    release = tmp_path / "os-release"
    release.write_text('ID=debian\nVERSION_ID="12"\n')
    return UnsetClone(
        folder, programs, {"KC_VLA_OS_RELEASE": str(release), "KC_VLA_ROS_PREFIX": str(tmp_path / "no-ros")}
    )


@pytest.fixture
def installed_ros(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that makes a folder which looks like an installed ROS 2 with the given packages."""

    def make(*packages: str) -> Path:
        prefix = tmp_path / "ros"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "setup.bash").write_text(f'export AMENT_PREFIX_PATH="{prefix}"\n')
        (prefix / "bin" / "ros2").write_text("#!/bin/sh\n")
        (prefix / "bin" / "ros2").chmod(0o755)
        for package in packages:
            (prefix / "share" / package).mkdir(parents=True)
        return prefix

    return make
