"""Without a home folder each program says so in one line, and what needs none goes on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kc_vla.arm.stop_latch import usual_folder
from kc_vla.core import home
from kc_vla.launching import graph

HOME = ("HOME", "ROS_HOME", "ROS_LOG_DIR", "XDG_CACHE_HOME", "USER", "LOGNAME", "USERNAME", "LNAME")


def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a user whom the machine does not know, as in a container that is run with a number."""
    for name in HOME:
        monkeypatch.delenv(name, raising=False)

    def unknown(uid: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.setattr("pwd.getpwuid", unknown)


def test_a_node_says_so() -> None:
    begin = "from kc_vla.ros.entry import bag_player; bag_player()"
    homeless = {name: value for name, value in os.environ.items() if name not in HOME}
    environment = {**homeless, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", begin], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "HOME is not set: set it, or ROS_HOME, to a folder that can be written\n"


def test_a_cache_is_where_it_is_said_or_the_error_says_how(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nobody(monkeypatch)
    with pytest.raises(OSError, match="HOME is not set: set it, or XDG_CACHE_HOME"):
        home.cache_home()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home.cache_home() == tmp_path / ".cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert home.cache_home() == tmp_path / "cache"


def test_somebody_without_a_name_has_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody(monkeypatch)
    assert home.user_name() == f"uid{os.getuid()}"
    assert graph.emulated_bus().endswith(f"kc_vla_piper-uid{os.getuid()}-{os.environ['ROS_DOMAIN_ID']}")


def test_the_state_of_an_arm_is_kept_in_no_folder_that_is_called_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody(monkeypatch)
    with pytest.raises(OSError, match="HOME is not set: set it, or ROS_HOME"):
        usual_folder("can0")
