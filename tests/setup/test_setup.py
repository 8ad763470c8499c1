"""What ./setup.sh says and does on machines where something is missing."""

from collections.abc import Callable
from pathlib import Path

import pytest
from nightly import at_night
from unset_clone import UnsetClone


def _last_line(output: str) -> str:
    return output.strip().splitlines()[-1]


def test_check_of_an_unset_clone_names_what_is_missing_and_changes_nothing(clone: UnsetClone) -> None:
    before = sorted(clone.folder.rglob("*"))
    result = clone.run("./setup.sh", "--check")
    assert result.returncode == 1
    assert "ok       system                 debian 12" in result.stdout
    assert "missing  Python packages        run ./setup.sh" in result.stdout
    assert "missing  kc_vla_msgs " in result.stdout
    assert sorted(clone.folder.rglob("*")) == before


def test_check_tells_how_to_get_a_missing_system_package(clone: UnsetClone) -> None:
    clone.remove_program("cmake")
    assert "missing  cmake                  apt-get install cmake" in clone.run("./setup.sh", "--check").stdout


def test_unknown_option_is_refused(clone: UnsetClone) -> None:
    result = clone.run("./setup.sh", "--chekc")
    assert result.returncode == 1
    assert result.stdout == "setup.sh: unknown option '--chekc': see ./setup.sh --help\n"


def test_wrong_python_is_refused_before_anything_is_made(clone: UnsetClone) -> None:
    clone.replace_program("old-python", "echo 3.10")
    result = clone.run("./setup.sh", "--no-system", PYTHON="old-python")
    assert result.returncode == 1
    assert "Python 3.11 or 3.12 is needed, old-python is 3.10" in _last_line(result.stdout)
    assert not (clone.folder / ".venv").exists()


def test_absent_python_is_refused(clone: UnsetClone) -> None:
    result = clone.run("./setup.sh", "--no-system", PYTHON="python9.9")
    assert result.returncode == 1
    assert "python9.9 is not there" in _last_line(result.stdout)


def test_a_virtual_environments_python_stands_for_the_one_it_was_made_from(clone: UnsetClone) -> None:
    base = clone.call('find_python; echo "$PYTHON_FOUND"').strip()
    clone.run(base, "-m", "venv", "--without-pip", "other")
    python = str(clone.folder / "other" / "bin" / "python")
    found = clone.call('find_python; echo "$PYTHON_FOUND"', PYTHON=python).strip()
    assert found == base


@pytest.mark.nightly
def test_a_full_disk_is_noticed_before_anything_is_made(clone: UnsetClone) -> None:
    clone.replace_program("df", "printf 'Avail\\n   3\\n'")
    result = clone.run("./setup.sh", "--no-system")
    assert result.returncode == 1
    assert _last_line(result.stdout) == f"setup.sh: not enough disk: 3 GB free at {clone.folder}, 6 GB needed"
    assert not (clone.folder / ".venv").exists()


def test_without_root_and_sudo_the_missing_packages_are_named(clone: UnsetClone) -> None:
    clone.remove_program("cmake")
    clone.remove_program("sudo")
    clone.replace_program("id", "echo 1000")
    clone.replace_program("apt-get", "echo must not be called; exit 1")
    result = clone.run("./setup.sh")
    assert result.returncode == 1
    assert _last_line(result.stdout).startswith("setup.sh: not root and no sudo, to install cmake")


def test_refused_sudo_ends_the_set_up(clone: UnsetClone) -> None:
    clone.remove_program("cmake")
    clone.replace_program("id", "echo 1000")
    clone.replace_program("sudo", "exit 1")
    result = clone.run("./setup.sh")
    assert result.returncode == 1
    assert "sudo was refused, to install cmake" in _last_line(result.stdout)


@pytest.mark.nightly
def test_no_system_never_calls_apt(clone: UnsetClone) -> None:
    clone.remove_program("cmake")
    clone.replace_program("apt-get", "touch apt-was-called; exit 1")
    result = clone.run("./setup.sh", "--no-system")
    assert result.returncode == 1
    assert "missing system packages: cmake;" in _last_line(result.stdout)
    assert not (clone.folder / "apt-was-called").exists()


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("Temporary failure resolving 'mirror.example'", "no network: the package servers do not answer"),
        *at_night(
            (
                "NewConnectionError: Failed to establish a new connection",
                "no network: the package servers do not answer",
            ),
            ("write error: No space left on device", "the disk is full"),
            ("SSLError: certificate verify failed", "a package server's certificate is not trusted"),
            ("E: Could not get lock /var/lib/dpkg/lock-frontend", "another package manager is running"),
        ),
        ("Segmentation fault", "step 'system packages' failed: see"),
    ],
)
def test_a_failed_command_is_explained_by_one_line_and_the_end_of_the_log(
    clone: UnsetClone, message: str, cause: str
) -> None:
    clone.remove_program("cmake")
    clone.replace_program("id", "echo 0")
    clone.replace_program("apt-get", f'echo "{message}"; exit 100')
    result = clone.run("./setup.sh")
    assert result.returncode == 1
    assert _last_line(result.stdout).startswith(f"setup.sh: {cause}")
    assert f"  {message}\n" in result.stdout
    assert str(clone.folder / "log" / "setup.log") in result.stdout


@pytest.mark.parametrize("dies", ["trap 'exit 1' INT", "trap - INT"], ids=["it exits with 1", "it is killed"])
def test_ctrl_c_says_interrupted_and_not_failed(clone: UnsetClone, dies: str) -> None:
    clone.remove_program("cmake")
    clone.replace_program("id", "echo 0")
    clone.replace_program("apt-get", f"{dies}; sleep 0.5; kill -INT 0; sleep 5")
    result = clone.run("setsid", "--wait", "env", "--default-signal=INT", "./setup.sh")
    assert result.returncode != 0
    assert "[2/7] system packages          interrupted\n" in result.stdout
    assert "setup.sh: interrupted in step 'system packages': run ./setup.sh again" in result.stdout
    assert "failed" not in result.stdout
    assert "[3/7]" not in result.stdout


def test_another_system_is_warned_about_and_tried(clone: UnsetClone, tmp_path: Path) -> None:
    release = tmp_path / "other-release"
    release.write_text("ID=fedora\nVERSION_ID=44\n")
    result = clone.run("./setup.sh", "--no-system", KC_VLA_OS_RELEASE=str(release), PYTHON="python9.9")
    assert "warning: tested on Debian 12 and Ubuntu 24.04, this is fedora 44" in result.stdout
    assert "[3/7] Python environment" in result.stdout


def test_two_set_ups_do_not_run_in_one_clone_at_once(clone: UnsetClone) -> None:
    (clone.folder / "log").mkdir()
    result = clone.run("flock", "log/setup.log.lock", "./setup.sh")
    assert result.returncode == 1
    assert "another ./setup.sh is running" in result.stdout


def test_an_installed_jazzy_is_used(clone: UnsetClone, installed_ros: Callable[..., Path]) -> None:
    prefix = installed_ros()
    assert clone.call('find_ros; echo "$ROS_PREFIX"', KC_VLA_ROS_PREFIX=str(prefix)) == f"{prefix}\n"


def test_a_sourced_jazzy_is_used_wherever_it_lies(clone: UnsetClone, installed_ros: Callable[..., Path]) -> None:
    prefix = installed_ros()
    sourced = {"AMENT_PREFIX_PATH": f"/some/workspace:{prefix}"}
    assert clone.call('find_ros; echo "$ROS_PREFIX"', ROS_DISTRO="jazzy", **sourced) == f"{prefix}\n"
    assert clone.call('find_ros; echo "$ROS_PREFIX"', ROS_DISTRO="humble", **sourced) == "\n"


@pytest.mark.nightly
def test_with_an_installed_jazzy_its_missing_packages_are_named(
    clone: UnsetClone, installed_ros: Callable[..., Path]
) -> None:
    prefix = installed_ros("ament_cmake", "rclpy")
    output = clone.run("./setup.sh", "--check", KC_VLA_ROS_PREFIX=str(prefix), PYTHON="python3").stdout
    assert f"ok       ROS 2                  {prefix}" in output
    assert "missing  ros-jazzy-sensor-msgs  apt-get install ros-jazzy-sensor-msgs" in output
    assert "ros-jazzy-rclpy" not in output


@pytest.mark.nightly
def test_with_an_installed_jazzy_no_wheels_and_no_stand_in_are_installed(
    clone: UnsetClone, installed_ros: Callable[..., Path]
) -> None:
    steps = 'run() { echo "$*"; }; find_ros; find_python; mkdir -p .venv; '
    steps += "make_environment; install_python_packages; build_packages; install_commands"
    with_ros = clone.call(steps, KC_VLA_ROS_PREFIX=str(installed_ros()), PYTHON="python3")
    assert "-m venv --clear --system-site-packages" in with_ros
    assert "lock.txt" in with_ros
    assert "lock-ros.txt" not in with_ros
    assert "standalone" not in with_ros
    assert "--base-paths ros2_ws/src sim_bridge --event-handlers" in with_ros  # tf2_msgs is the distribution's own
    (clone.folder / ".venv" / "kc_vla_stamp").unlink()
    with_wheels = clone.call(steps)
    assert "--system-site-packages" not in with_wheels
    assert "-r requirements/lock-ros.txt" in with_wheels
    assert "--editable ros2_ws/standalone" in with_wheels
    assert "--base-paths ros2_ws/src sim_bridge ros2_ws/interfaces --event-handlers" in with_wheels


@pytest.mark.nightly
def test_a_changed_lock_makes_the_environment_anew(clone: UnsetClone) -> None:
    current = "environment_is_current && echo current || echo stale"
    (clone.folder / ".venv").mkdir()
    clone.call('environment_stamp > "$STAMP"')
    assert clone.call(current) == "current\n"
    with (clone.folder / "requirements" / "lock.txt").open("a") as lock:
        lock.write("six==1.17.0\n")
    assert clone.call(current) == "stale\n"


def test_an_interface_that_is_no_more_has_the_messages_built_anew(clone: UnsetClone) -> None:
    """What is left of it in an old build would keep Python from loading any of them."""
    share = clone.folder / "install/kc_vla_msgs/share/kc_vla_msgs/msg"
    for folder in (share, clone.folder / "ros2_ws/src/kc_vla_msgs/msg"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "Keyframe.msg").touch()
    clone.call("forget_removed_interfaces")
    assert share.exists()
    (share / "Forgotten.msg").symlink_to("nowhere")  # as colcon's --symlink-install leaves it
    clone.call("forget_removed_interfaces")
    assert not (clone.folder / "install/kc_vla_msgs").exists()


INSTALLING = """
remember_choices; environment_is_current() { return 1; }; environment_stamp() { echo stamp; }
run() { shift 3; echo "$*"; }; mkdir -p "$VENV"; ROS_PREFIX=/ros; install_python_packages
"""


def test_a_gpu_gets_its_builds_in_place_of_the_processors(clone: UnsetClone) -> None:
    lines = clone.call(f"BUILD=gpu; {INSTALLING}").splitlines()
    removed = next(n for n, line in enumerate(lines) if line.endswith("uninstall --yes onnxruntime"))
    assert "requirements/lock.txt" in lines[removed - 1]
    assert lines[removed + 1].endswith("-r requirements/lock-gpu.txt")
    assert "--require-hashes" in lines[removed + 1]
    assert "torch.in" not in "".join(lines)


def test_without_the_option_neither_is_a_gpus(clone: UnsetClone) -> None:
    told = clone.call(INSTALLING)
    assert "gpu" not in told
    assert "uninstall" not in told
    assert "torch.in" in told


def test_the_build_is_remembered_until_another_is_asked_for(clone: UnsetClone) -> None:
    (clone.folder / ".venv").mkdir()
    stamp = clone.folder / ".venv" / "kc_vla_stamp"
    stamp.write_text("root=here\n")
    assert clone.call('remember_choices; echo "$BUILD"') == "cpu\n"
    stamp.write_text("root=here\ngpu=0123456789abcdef\n")
    assert clone.call('remember_choices; echo "$BUILD"') == "gpu\n"
    assert clone.call('BUILD=cpu; remember_choices; echo "$BUILD"') == "cpu\n"


def test_what_was_asked_for_outlives_an_environment_that_could_not_be_made(clone: UnsetClone) -> None:
    python = clone.call('find_python; echo "$PYTHON_FOUND"').strip()
    clone.call("BUILD=gpu; find_python; note_choices", PYTHON=python)
    told = 'remember_choices; echo "$BUILD ${PYTHON:-}"'
    assert clone.call(told) == f"gpu {python}\n"
    assert clone.call(f"BUILD=cpu; {told}") == f"cpu {python}\n"
    assert clone.call(f"ROS_PREFIX=/ros; {told}") == "gpu \n"  # which has a Python of its own
    (clone.folder / ".setup_choices").write_text("build=cpu\npython=/gone/python3\n")
    assert clone.call(told) == "cpu \n"


PARTS = (".venv/kc_vla_stamp", "build/made", "install/made")


@pytest.mark.parametrize("whole", [True, False])
def test_an_installation_that_worked_is_there_until_the_next_one_is(clone: UnsetClone, whole: bool) -> None:
    for part in PARTS:
        (clone.folder / part).parent.mkdir()
        (clone.folder / part).write_text("before")
    maker = clone.folder / "makes_environments"  # as python -m venv, in no time
    maker.write_text('#!/bin/bash\nmkdir -p "${@: -1}" && touch "${@: -1}/pyvenv.cfg"\n')
    maker.chmod(0o755)
    finds_no_network = "" if whole else 'pip_install() { fail "no network"; };'
    told = clone.run(
        "bash",
        "-c",
        "set -euo pipefail; ROOT=$PWD VENV=$PWD/.venv LOG=$PWD/setup.log WHEELS= BUILD=cpu; "
        'for part in setup/*.sh; do source "$part"; done; ROS_PREFIX=/ros; '
        "pip_install() { :; }; environment_stamp() { echo new; }; "
        "PYTHON_FOUND=$PWD/makes_environments; start_log; step packages; "
        f"{finds_no_network} make_environment; install_python_packages; finish_steps",
    ).stdout
    assert not (clone.folder / ".setup_before").exists()
    if whole:
        assert (clone.folder / PARTS[0]).read_text() == "new\n"
        assert not any((clone.folder / part).exists() for part in PARTS[1:])  # they are built anew
    else:
        assert [(clone.folder / part).read_text() for part in PARTS] == ["before"] * 3
        assert not (clone.folder / ".venv/pyvenv.cfg").exists()
        assert "what was installed before is back\nsetup.sh: no network\n" in told


def test_a_path_that_no_program_can_name_and_a_machine_without_packages_are_refused_at_once(clone: UnsetClone) -> None:
    clone.replace_program("uname", "echo aarch64")
    assert _last_line(clone.run("./setup.sh", "--no-system").stdout).startswith(
        "setup.sh: some of the packages exist for x86_64 alone, this is aarch64"
    )
    clone.remove_program("uname")
    clone.replace_program("uname", "echo x86_64")
    moved = clone.folder.rename(clone.folder.with_name("my clone"))
    clone.folder = moved
    told = clone.run("./setup.sh", "--no-system").stdout
    assert "there is a blank in the path" in _last_line(told)
    assert not (moved / ".venv").exists()


@pytest.mark.nightly
def test_the_stamps_of_both_builds_differ_and_the_processors_is_as_before(clone: UnsetClone) -> None:
    cpu, gpu = (clone.call(f"BUILD={build}; environment_stamp").splitlines() for build in ("cpu", "gpu"))
    assert gpu[:-1] == cpu
    assert gpu[-1].startswith("gpu=")
    assert [line.split("=")[0] for line in cpu] == ["root", "ros", "python", "lock"]


def test_where_there_are_wheels_nothing_is_asked_of_a_network(clone: UnsetClone) -> None:
    told = clone.call(f"WHEELS=/wheels; BUILD=cpu; {INSTALLING}").splitlines()
    installing = [line for line in told if " install " in line]
    assert len(installing) == 2
    for line in installing:
        assert " install --no-index --find-links /wheels " in line


@pytest.mark.nightly
def test_a_folder_without_wheels_is_told_before_anything_is_made(clone: UnsetClone) -> None:
    result = clone.run("./setup.sh", "--no-system", "--wheels", "nowhere")
    assert result.returncode == 1
    assert f"no wheels in {clone.folder / 'nowhere'}: fill it with ./setup.sh --save-wheels" in _last_line(
        result.stdout
    )
    assert not (clone.folder / ".venv").exists()


@pytest.mark.parametrize("option", ["--wheels", "--save-wheels"])
def test_an_option_that_needs_a_folder_says_so(clone: UnsetClone, option: str) -> None:
    result = clone.run("./setup.sh", option)
    assert result.returncode == 1
    assert f"{option} needs a folder" in result.stdout


@pytest.mark.nightly
def test_a_gpus_builds_need_more_disk(clone: UnsetClone) -> None:
    clone.replace_program("df", "printf 'Avail\\n  10\\n'")
    result = clone.run("./setup.sh", "--gpu", "--no-system")
    assert result.returncode == 1
    assert "10 GB free" in _last_line(result.stdout)
    assert "16 GB needed" in _last_line(result.stdout)
    assert not (clone.folder / ".venv").exists()
