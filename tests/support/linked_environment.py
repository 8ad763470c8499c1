"""An environment with nothing in it but wheels and what they say that they need, made without a network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
_SDIST = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
LONGEST = 900
"""s that a step of pip may take. A wheel has 40 MB of models, and a machine can be ten times slower at times."""
_EXCLUDES = Path(__file__).parents[2] / "requirements/excludes.txt"
"""What ./setup.sh leaves out of this environment, though a wheel asks for it."""


def build_wheel(source: Path, into: Path) -> Path:
    """Build the package in the folder `source` as `python -m build` does: the source distribution, and of it the wheel.

    A build leaves files where it is done, so this one is done with a copy.
    """
    copy = into / "source" / source.name
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("test", "build", "*.egg-info", "__pycache__"))
    run = {"check": True, "capture_output": True, "text": True, "timeout": LONGEST}
    made = into / source.name
    subprocess.run([sys.executable, "-c", _SDIST, str(made)], cwd=copy, **run)
    (sdist,) = made.glob("*.tar.gz")
    subprocess.run(
        [*_PIP, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(made), str(sdist)], **run
    )
    (wheel,) = made.glob("*.whl")
    return wheel


def environment_of(
    wheels: Collection[Path], folder: Path, extras: Collection[str] = (), alone: Collection[str] = ()
) -> Path:
    """Install `wheels` into a new environment, link what they require from this one; return the folder of programs.

    Args:
        wheels: the files; the first one is asked for, the others may be required by it.
        folder: of the new environment.
        extras: of the first wheel, which are required too.
        alone: names of distributions that are linked without what they require themselves.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    python = folder / "bin/python"
    install = [*_PIP, "--python", str(python), "install", "--no-deps", "--no-index", "--no-compile", *map(str, wheels)]
    subprocess.run(install, check=True, timeout=LONGEST)
    own = _own(wheels, folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in {*_closure(own, extras), *alone} - own.keys() - _excluded():
        _link(distribution(name), packages)
    return folder / "bin"


def required(wheels: Collection[Path], programs: Path, extras: Collection[str]) -> dict[str, SpecifierSet]:
    """Return which versions of each distribution an environment of `environment_of` may have, by name."""
    return _closure(_own(wheels, programs.parent), extras)


def _own(wheels: Iterable[Path], folder: Path) -> dict[str, Distribution]:
    """Return the distributions that these wheels are in the environment, by name, in their order."""
    found = {}
    for wheel in wheels:
        name = wheel.name.partition("-")[0]
        (info,) = folder.glob(f"lib/python*/site-packages/{name}-*.dist-info")
        found[canonicalize_name(name)] = Distribution.at(info)
    return found


def _closure(own: Mapping[str, Distribution], asked: Collection[str]) -> dict[str, SpecifierSet]:
    """Return what the first one of `own` needs with the extras that are asked for, and what that needs in turn."""
    found: dict[str, SpecifierSet] = {}
    waiting = [(next(iter(own.values())), frozenset(asked))]
    while waiting:
        of, extras = waiting.pop()
        for requirement in map(Requirement, of.requires or ()):
            marker, name = requirement.marker, canonicalize_name(requirement.name)
            if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in (extras or {""})):
                continue
            if name not in found and name not in _excluded():
                waiting.append((own.get(name) or distribution(name), frozenset(requirement.extras)))
            found[name] = found.get(name, SpecifierSet()) & requirement.specifier
    return found


def _excluded() -> set[str]:
    lines = (line.strip() for line in _EXCLUDES.read_text(encoding="utf-8").splitlines())
    return {canonicalize_name(line) for line in lines if line and not line.startswith("#")}


def _link(installed: Distribution, packages: Path) -> None:
    tops = {file.parts[0] for file in installed.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        target = Path(str(installed.locate_file(top)))
        if not (packages / top).exists():
            (packages / top).symlink_to(target)
