"""An environment with nothing in it but a wheel and what the wheel says that it needs, made without a network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Collection
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
_SDIST = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"


def build_wheel(source: Path, into: Path) -> Path:
    """Build the package in the folder `source` as `python -m build` does: the source distribution, and of it the wheel.

    A build leaves files where it is done, so this one is done with a copy.
    """
    copy = into / "source"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("test", "build", "*.egg-info", "__pycache__"))
    run = {"check": True, "capture_output": True, "text": True, "timeout": 240}
    subprocess.run([sys.executable, "-c", _SDIST, str(into)], cwd=copy, **run)
    (sdist,) = into.glob(f"{source.name}-*.tar.gz")
    subprocess.run(
        [*_PIP, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(into), str(sdist)], **run
    )
    (wheel,) = into.glob(f"{source.name}-*.whl")
    return wheel


def environment_of(wheel: Path, folder: Path, extras: Collection[str] = (), alone: Collection[str] = ()) -> Path:
    """Install `wheel` into a new environment, link what it requires from this one; return the folder of programs.

    Args:
        wheel: the file.
        folder: of the new environment.
        extras: of the wheel, which are required too.
        alone: names of distributions that are linked without what they require themselves.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    python = folder / "bin/python"
    install = [*_PIP, "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, timeout=240)
    (packages,) = folder.glob("lib/python*/site-packages")
    (info,) = packages.glob(f"{wheel.name.partition('-')[0]}-*.dist-info")
    for name in {*_closure(Distribution.at(info), frozenset(extras)), *alone}:
        _link(distribution(name), packages)
    return folder / "bin"


def _closure(wheel: Distribution, asked: frozenset[str]) -> set[str]:
    """Return the names of all distributions that this one needs, with the extras that are asked for."""
    found: set[str] = set()
    waiting = [(wheel, asked)]
    while waiting:
        of, extras = waiting.pop()
        for requirement in map(Requirement, of.requires or ()):
            marker, name = requirement.marker, canonicalize_name(requirement.name)
            wanted = marker is None or any(marker.evaluate({"extra": extra}) for extra in (extras or {""}))
            if wanted and name not in found:
                found.add(name)
                waiting.append((distribution(name), frozenset(requirement.extras)))
    return found


def _link(installed: Distribution, packages: Path) -> None:
    tops = {file.parts[0] for file in installed.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        target = Path(str(installed.locate_file(top)))
        if not (packages / top).exists():
            (packages / top).symlink_to(target)
