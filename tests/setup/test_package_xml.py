"""Each package.xml names what its package imports, and its wheel requires it.

The set-up looks for all of that in an installed ROS 2.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution
from pathlib import Path
from xml.etree import ElementTree

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
ROSDEP = {
    "PIL": "python3-pil",
    "can": "python3-can",
    "cv2": "python3-opencv",
    "fastapi": "python3-fastapi",
    "hypothesis": "python3-hypothesis",
    "jinja2": "python3-jinja2",
    "matplotlib": "python3-matplotlib",
    "msgpack": "python3-msgpack",
    "networkx": "python3-networkx",
    "numpy": "python3-numpy",
    "psutil": "python3-psutil",
    "pydantic": "python3-pydantic",
    "pytest": "python3-pytest",
    "scipy": "python3-scipy",
    "setuptools": "python3-setuptools",
    "tqdm": "python3-tqdm",
    "uvicorn": "python3-uvicorn",
    "yaml": "python3-yaml",
    "zmq": "python3-zmq",
}
"""Keys of rosdep whose packages come from the system."""
LOCKED = {
    "av": "av",
    "coal": "pin",
    "fast_simplification": "fast-simplification",
    "foxglove": "foxglove-sdk",
    "gymnasium": "gymnasium",
    "httpx2": "httpx2",
    "huggingface_hub": "huggingface-hub",
    "lz4": "lz4",
    "mani_skill": "mani-skill",
    "mcap": "mcap",
    "mcap_ros2": "mcap-ros2-support",
    "onnx": "onnx",
    "onnxruntime": "onnxruntime",
    "openai": "openai",
    "pinocchio": "pin",
    "piper_sdk": "piper-sdk",
    "pyarrow": "pyarrow",
    "pytorch_kinematics": "pytorch-kinematics",
    "rosbags": "rosbags",
    "ruckig": "ruckig",
    "safetensors": "safetensors",
    "sapien": "sapien",
    "starlette": "starlette",
    "tokenizers": "tokenizers",
    "torch": "torch",
    "trimesh": "trimesh",
    "websockets": "websockets",
    "zstandard": "zstandard",
}
"""By their names in the lock file, from which alone they come: rosdep has no key for them, or one that has pip install
into the system's Python. torch and websockets have a key; the system's are too old."""
ON_PYPI = {"PIL": "pillow", "can": "python-can", "cv2": "opencv-python-headless", "yaml": "pyyaml", "zmq": "pyzmq"}
"""Names on PyPI of what the system has packages of too, where they are not those of the modules."""
NOT_IMPORTED = {"kc_vla": {"ros2launch": "runs its launch files"}}
LOOKED_FOR = {"kc_vla_sim_cli", "rerun", "spark_dsg"}
"""What need not be there: of a package that depends on this one, and for some forms of files alone."""
OF_NO_PACKAGE = {"domain_coordinator", "rmw_fastrtps_cpp"}
"""What keeps runs of the tests apart, and the middleware that env.sh chooses."""
OURS = {"kc_vla", "kc_vla_msgs", "kc_vla_sim"}


@dataclass(frozen=True)
class Package:
    """A package's folder, and what of it is code and what are tests, as patterns from the top of the repository."""

    name: str
    folder: Path
    code: tuple[str, ...]
    tests: tuple[str, ...]

    def named(self, *kinds: str) -> list[str]:
        """What its package.xml names in elements of these kinds."""
        root = ElementTree.parse(self.folder / "package.xml").getroot()
        return [element.text or "" for element in root if element.tag in kinds]


KC_VLA = Package(
    "kc_vla",
    ROOT / "ros2_ws/src/kc_vla",
    ("ros2_ws/src/kc_vla/kc_vla/**/*.py", "launch/*.launch.py"),
    ("ros2_ws/src/kc_vla/test/*.py",),
)
KC_VLA_SIM = Package(
    "kc_vla_sim",
    ROOT / "sim_bridge",
    ("sim_bridge/kc_vla_sim/**/*.py", "sim_bridge/kc_vla_sim_*.py"),
    ("sim_bridge/test/*.py",),
)
KC_VLA_MSGS = Package("kc_vla_msgs", ROOT / "ros2_ws/src/kc_vla_msgs", (), ())
in_python = pytest.mark.parametrize("package", [KC_VLA, KC_VLA_SIM], ids=lambda package: package.name)


def files(patterns: Iterable[str]) -> list[Path]:
    found = [path for pattern in patterns for path in ROOT.glob(pattern)]
    assert found
    return found


NESTED = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where a statement has others, of which alone an import is one."""


def imported(source: str) -> Iterator[str]:
    """The top-level modules that code imports, anywhere in it; not those that only a type checker reads."""
    left: list[ast.AST] = [ast.parse(source)]
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            left.extend(node.orelse)
        else:
            left.extend(each for name in NESTED for each in getattr(node, name, ()))


@cache
def modules_of(path: Path) -> frozenset[str]:
    """What a file imports, read once for all who ask."""
    return frozenset(imported(path.read_text()))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import a.b, c as d\nfrom e.f import g\nfrom . import h", "ace"),
        ("class A:\n def b(self):\n  with c:\n   for d in e:\n    import f", "f"),
        ("try:\n import a\nexcept B:\n import c\nelse:\n import d\nfinally:\n import e", "acde"),
        ("if a:\n import b\nelif c:\n import d\nelse:\n import e\nwhile f:\n import g", "bdeg"),
        ("match a:\n case 1:\n  import b\nasync def c():\n async with d:\n  import e", "be"),
        ("if TYPE_CHECKING:\n import a\nelse:\n import b", "b"),
    ],
)
def test_an_import_is_found_wherever_a_statement_can_be(source: str, found: str) -> None:
    assert "".join(sorted(imported(source))) == found


def dependencies(paths: Iterable[Path], own: set[str]) -> set[str]:
    """The packages and rosdep keys of what these files import; a module without an entry is a ROS package."""
    modules = {module for path in paths for module in modules_of(path)}
    modules -= {*sys.stdlib_module_names, *LOCKED, *LOOKED_FOR, *own}
    return {ROSDEP.get(module, module) for module in modules}


def assert_same(named: Iterable[str], needed: Iterable[str]) -> None:
    named, needed = set(named), set(needed)
    assert {"missing": needed - named, "needless": named - needed} == {"missing": set(), "needless": set()}


def own_modules(package: Package) -> set[str]:
    return {package.name, *(path.stem for path in package.folder.glob(f"{package.name}*.py"))}


@in_python
def test_what_a_package_imports_is_what_it_depends_on(package: Package) -> None:
    needed = dependencies(files(package.code), own_modules(package)) | set(NOT_IMPORTED.get(package.name, ()))
    assert_same(package.named("exec_depend", "depend"), needed)


@in_python
def test_what_the_tests_of_a_package_import_besides_is_what_they_depend_on(package: Package) -> None:
    helpers = {path.stem for path in files(("tests/support/*.py",))}
    needed = dependencies(files(package.tests), own_modules(package) | helpers)
    assert_same(package.named("test_depend"), needed - set(package.named("exec_depend", "depend")))


@in_python
def test_what_builds_a_package_is_named(package: Package) -> None:
    assert_same(package.named("buildtool_depend"), dependencies([package.folder / "setup.py"], set()))


def required_by_wheel(package: Package, folder: Path) -> set[str]:
    """What the wheel of a package requires, with all extras."""
    command = [sys.executable, "-W", "ignore", "setup.py", "--quiet", "egg_info", "--egg-base", str(folder)]
    subprocess.run(command, cwd=package.folder, check=True, timeout=120)
    requires = Distribution.at(folder / f"{package.name}.egg-info").requires or ()
    return {canonicalize_name(Requirement(line).name) for line in requires}


def test_what_the_packages_import_is_what_their_wheels_require(tmp_path: Path) -> None:
    required = {package.name: required_by_wheel(package, tmp_path) for package in (KC_VLA, KC_VLA_SIM)}
    needed = {
        package.name: {
            LOCKED.get(module, ON_PYPI.get(module, module))
            for path in files(package.code)
            for module in modules_of(path)
            if module in LOCKED or module in ROSDEP
        }
        for package in (KC_VLA, KC_VLA_SIM)
    }
    assert_same(required["kc_vla"] - {"kc-vla-sim"}, needed["kc_vla"] - {"setuptools"})
    assert needed["kc_vla_sim"] <= required["kc_vla_sim"] | required["kc_vla"]  # which it requires


def test_what_comes_from_the_lock_is_in_it() -> None:
    locked = re.findall(
        r"^([\w.-]+)==",
        "".join((ROOT / "requirements" / name).read_text() for name in ("lock.txt", "torch.in")),
        re.MULTILINE,
    )
    assert set(LOCKED.values()) <= {canonicalize_name(name) for name in locked}


def test_the_set_up_looks_for_all_that_is_used_of_an_installed_ros() -> None:
    """What the packages name, and the verbs of `ros2` that the documents tell people to type."""
    documents = " ".join(path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    verbs = {f"ros2{verb}" for verb in re.findall(r"\bros2 ([a-z]+)\b", documents)}
    kinds = ("buildtool_depend", "depend", "exec_depend")
    named = {name for package in (KC_VLA, KC_VLA_SIM, KC_VLA_MSGS) for name in package.named(*kinds)}
    needed = {name for name in named if not name.startswith("python3-")} - OURS
    script = (ROOT / "setup/system_packages.sh").read_text()
    found = re.search(r"^ROS_NEEDS=\(([^)]*)\)", script, re.MULTILINE)
    assert found is not None
    assert_same(found[1].split(), needed | verbs | OF_NO_PACKAGE)
