"""The lock files pin everything that the .in files ask for but torch, by version and hash and nothing else."""

import importlib.metadata
import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "requirements"
LOCKS = {
    "lock.txt": ["runtime.in", "learning.in", "simulation.in", "development.in"],
    "lock-ros.txt": ["ros.in"],
    "lock-docs.txt": ["docs.in"],
    "lock-gpu.txt": ["gpu.in"],
    "lock-rerun.txt": ["rerun.in"],
    "lock-release.txt": ["release.in"],
}


def _lines(name: str) -> list[str]:
    """The lines of a file without comments; what a backslash continues is one line."""
    text = re.sub(r"\\\n\s*", " ", (REQUIREMENTS / name).read_text())
    return [bare for line in text.splitlines() if (bare := re.sub(r"\s*#.*", "", line))]


def _requirements(name: str) -> list[Requirement]:
    return [Requirement(re.sub(r"\s--hash=.*", "", line)) for line in _lines(name) if not line.startswith("-r ")]


def _pins(name: str, python: str) -> dict[str, str]:
    """Return name -> version of what a lock installs for a Python version on x86_64 Linux."""
    environment = {"python_version": python, "python_full_version": f"{python}.0", "platform_machine": "x86_64"}
    pins: dict[str, str] = {}
    for requirement in _requirements(name):
        (specifier,) = requirement.specifier
        assert specifier.operator == "==", requirement
        if requirement.marker is None or requirement.marker.evaluate(environment):
            assert canonicalize_name(requirement.name) not in pins, f"{requirement.name} is there twice"
            pins[canonicalize_name(requirement.name)] = specifier.version
    return pins


@pytest.mark.parametrize("python", ["3.11", "3.12"])
@pytest.mark.parametrize("lock", LOCKS)
def test_every_input_is_pinned_within_its_bounds(lock: str, python: str) -> None:
    pins = _pins(lock, python)
    for source in LOCKS[lock]:
        for requirement in _requirements(source):
            assert pins[canonicalize_name(requirement.name)] in requirement.specifier, requirement


@pytest.mark.parametrize("python", ["3.11", "3.12"])
@pytest.mark.parametrize("lock", ["lock-ros.txt", "lock-gpu.txt", "lock-rerun.txt", "lock-release.txt"])
def test_the_locks_agree(lock: str, python: str) -> None:
    other, rest = _pins(lock, python), _pins("lock.txt", python)
    assert {name: rest[name] for name in other.keys() & rest.keys()} == {
        name: other[name] for name in other.keys() & rest.keys()
    }


@pytest.mark.parametrize("python", ["3.11", "3.12"])
def test_the_builds_for_a_gpu_are_the_same_versions_and_of_one_cuda(python: str) -> None:
    gpu = _pins("lock-gpu.txt", python)
    assert gpu["onnxruntime-gpu"] == _pins("lock.txt", python)["onnxruntime"]
    assert [f"torch=={gpu['torch']}"] == _lines("torch.in")
    of_cuda = {re.sub(r".*-cu(\d+)$", r"\1", name) for name in gpu if re.search(r"-cu\d+$", name)}
    assert of_cuda == {gpu["cuda-toolkit"].split(".")[0]}
    assert "onnxruntime" not in gpu


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_server(lock: str) -> None:
    text = (REQUIREMENTS / lock).read_text()
    assert "://" not in text
    assert not re.search(r"^-", text, re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_file_that_is_installed_has_a_hash(lock: str) -> None:
    for line in _lines(lock):
        assert re.search(r"(\s--hash=sha256:[0-9a-f]{64})+$", line), line


def test_the_build_of_torch_is_left_to_the_machine() -> None:
    assert _lines("torch.in") == ["torch==2.13.0"]
    pins = _pins("lock.txt", "3.11")
    assert not [name for name in pins if name.startswith(("torch", "nvidia-cu", "nvidia-nccl", "cuda-", "triton"))]


def test_only_torch_is_installed_without_a_hash() -> None:
    commands = re.sub(r"\\\n\s*", "", (ROOT / "setup" / "environment.sh").read_text())
    installs = re.findall(r"pip_install (.* -r requirements/\S+)", commands)
    assert [line.split("/")[-1] for line in installs if "--require-hashes" not in line] == ["torch.in"]
    assert len(installs) == 4


def test_cv2_comes_from_one_package() -> None:
    pins = _pins("lock.txt", "3.11") | _pins("lock-ros.txt", "3.11")
    assert [name for name in pins if name.startswith("opencv")] == ["opencv-python-headless"]


@pytest.mark.skipif(not (ROOT / ".venv" / "kc_vla_stamp").is_file(), reason="./setup.sh has not been run")
def test_the_environment_has_what_the_lock_says() -> None:
    python = ".".join(str(part) for part in sys.version_info[:2])
    gpu = "\ngpu=" in (ROOT / ".venv" / "kc_vla_stamp").read_text()
    pins = _pins("lock.txt", python) | (_pins("lock-gpu.txt", python) if gpu else {})
    if gpu:
        del pins["onnxruntime"]  # the same module
    for name, version in pins.items():
        assert importlib.metadata.version(name).split("+")[0] == version, name
