"""What sourcing env.sh does to a shell, in bash and zsh."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from unset_clone import UnsetClone

ROOT = Path(__file__).parents[2]
SHELLS = [
    "bash",
    pytest.param("zsh", marks=pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")),
]
needs_set_up = pytest.mark.skipif(not (ROOT / ".venv" / "kc_vla_stamp").is_file(), reason="./setup.sh has not been run")


def _source(shell: str, script: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `script` in a shell that has nothing of the environment that runs the tests."""
    return subprocess.run(
        [shell, "-c", script],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"], **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _variables(listing: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in listing.split("\0") if "=" in line)


@pytest.mark.parametrize("shell", SHELLS)
def test_an_unset_clone_gives_one_line_and_leaves_the_shell_alive(clone: UnsetClone, shell: str) -> None:
    result = _source(shell, f". {clone.folder}/env.sh; echo status $?", clone.folder)
    assert result.stdout == "status 1\n"
    assert result.stderr == f"env.sh: kc_vla is not set up in {clone.folder}: run ./setup.sh first\n"


@needs_set_up
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_anywhere_has_python_and_ros2_and_the_packages(tmp_path: Path, shell: str) -> None:
    script = f'. {ROOT}/env.sh && command -v python ros2 kc-vla && python -c "import rclpy, kc_vla, kc_vla_msgs.msg"'
    result = _source(shell, script, tmp_path)
    assert result.returncode == 0, result.stderr
    assert f"{ROOT}/.venv/bin/python\n" in result.stdout


@needs_set_up
@pytest.mark.parametrize("shell", SHELLS)
def test_sourcing_twice_changes_nothing_more(tmp_path: Path, shell: str) -> None:
    once = _source(shell, f". {ROOT}/env.sh; env -0", tmp_path)
    twice = _source(shell, f". {ROOT}/env.sh; . {ROOT}/env.sh; env -0", tmp_path)
    assert _variables(twice.stdout) == _variables(once.stdout)
    assert once.stderr == ""


@needs_set_up
def test_libraries_of_another_environment_are_left_behind(tmp_path: Path) -> None:
    another = {"LD_LIBRARY_PATH": "/another/lib", "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"}
    result = _source("bash", f'. {ROOT}/env.sh; echo "$LD_LIBRARY_PATH"; python -c "import rclpy"', tmp_path, **another)
    found = result.stdout.strip().split(":")
    assert f"{ROOT}/install/kc_vla_msgs/lib" in found
    assert all(Path(folder).is_relative_to(ROOT / "install") for folder in found)
    assert result.returncode == 0, result.stderr


@needs_set_up
def test_the_users_own_libraries_and_choices_stay(tmp_path: Path) -> None:
    own = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "ROS_DOMAIN_ID": "7"}
    script = f". {ROOT}/env.sh; env -0"
    variables = _variables(_source("bash", script, tmp_path, LD_LIBRARY_PATH="/own/lib", **own).stdout)
    assert own.items() <= variables.items()
    assert variables["LD_LIBRARY_PATH"].split(":")[-1] == "/own/lib"


@needs_set_up
def test_by_default_nothing_leaves_the_machine(tmp_path: Path) -> None:
    variables = _variables(_source("bash", f". {ROOT}/env.sh; env -0", tmp_path).stdout)
    assert variables["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert Path(variables["FASTRTPS_DEFAULT_PROFILES_FILE"]).is_file()


@needs_set_up
def test_another_ros_distribution_in_the_shell_is_refused(tmp_path: Path) -> None:
    result = _source("bash", f". {ROOT}/env.sh; echo status $?", tmp_path, ROS_DISTRO="humble")
    assert result.stdout == "status 1\n"
    assert "ROS 2 humble is sourced in this shell" in result.stderr
