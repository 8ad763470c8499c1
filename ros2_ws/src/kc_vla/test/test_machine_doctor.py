"""One look at the machine: what is told, and that nothing that hangs or dies keeps the rest from being told."""

import fcntl
import json
import os
import signal
import socket
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from kc_vla.arm.scheduling import PriorityError
from kc_vla.cli import main
from kc_vla.inference.models import ModelError, register
from kc_vla.inference.onnx_sessions import InferenceError
from kc_vla.machine import compute, middleware, system
from kc_vla.machine.commands import CommandError, answer_of
from kc_vla.machine.doctor import Patient, examine, looks
from kc_vla.machine.finding import Finding, Level, from_json, last_line, worst
from kc_vla.machine.isolated_checks import look_apart

GOOD = Finding("good", Level.OK, "is well", facts={"n": 1})


def alive_in_group(group: int) -> bool:
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of_process = entry.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue  # it has ended since
        if int(of_process) == group and state not in "ZX":
            return True
    return False


def only(findings: list[Finding]) -> Finding:
    (finding,) = findings
    return finding


def disk(free: int, size: int = 1 << 40) -> SimpleNamespace:
    return SimpleNamespace(f_blocks=size // 4096, f_frsize=4096, f_bavail=free // 4096)


def test_a_finding_goes_through_json_unchanged():
    assert from_json(json.loads(json.dumps(GOOD.as_json()))) == GOOD


def test_the_worst_counts_and_the_last_line_says_how_many():
    warn, fail = Finding("a", Level.WARN, "x", "do this"), Finding("b", Level.FAIL, "y")
    assert worst([GOOD]) is Level.OK
    assert worst([fail, warn, GOOD]) is Level.FAIL
    assert last_line([GOOD, warn, warn, fail]).startswith("1 failure, 2 warnings")
    assert warn.lines()[0].startswith("warn  a")
    assert warn.lines()[1].strip() == "-> do this"


def test_a_look_that_hangs_dies_or_raises_costs_only_its_own_line(tmp_path):
    marks = tmp_path / "child"

    def hang():
        marks.write_text(str(os.getpid()))
        os.system("sleep 600")
        return [GOOD]

    def die():
        os.kill(os.getpid(), signal.SIGKILL)
        return [GOOD]

    def refuse():
        raise RuntimeError("a driver\nsaid no")

    began = time.monotonic()
    found = look_apart({"hangs": hang, "dies": die, "refuses": refuse, "works": lambda: [GOOD, GOOD]}, 3.0)
    assert time.monotonic() - began < 60  # and not the ten minutes of the one that hangs
    assert [(one.name, str(one.level)) for one in found] == [
        ("hangs", "warn"),
        ("dies", "fail"),
        ("refuses", "warn"),
        ("good", "ok"),
        ("good", "ok"),
    ]
    assert "no answer for 3 s" in found[0].what
    assert "signal 9" in found[1].what
    assert found[2].what == "could not be looked at: RuntimeError: a driver said no"
    while alive_in_group(int(marks.read_text())):  # the program that it had started is ended, too: pytest waits for it
        time.sleep(0.05)


def test_what_a_look_changes_in_its_process_stays_there(tmp_path):
    def change():
        os.chdir(tmp_path)
        os.environ["KC_VLA_TEST_OF_LOOKS"] = "1"
        return [GOOD]

    before = Path.cwd()
    assert look_apart({"change": change}, 30.0) == [GOOD]
    assert Path.cwd() == before
    assert "KC_VLA_TEST_OF_LOOKS" not in os.environ


def test_a_program_that_is_absent_slow_or_fails_is_told_in_a_line():
    assert answer_of(["printf", "a b"]) == "a b"
    assert answer_of(["cat"], given="taken") == "taken"
    for words, said in (
        (["kc_vla_no_such_program"], "cannot be run: No such file"),
        (["sh", "-c", "echo no >&2; echo so >&2; exit 3"], "failed with status 3: no so"),
        (["sleep", "60"], "has not answered for 0.2 s"),
    ):
        with pytest.raises(CommandError, match=said) as refused:
            answer_of(words, 0.2 if words[0] == "sleep" else 20.0)
        assert "\n" not in str(refused.value)


# --- ROS and its middleware


@pytest.mark.parametrize(
    ("stamp", "environment", "missing", "level", "what"),
    [
        ("root=/x\nros=wheels\n", {}, (), Level.OK, "from Python wheels"),
        ("ros=wheels\n", {"ROS_DISTRO": "humble"}, (), Level.FAIL, "humble is sourced"),
        ("ros=wheels\n", {}, ("kc_vla_msgs",), Level.FAIL, "does not find kc_vla_msgs"),
        ("ros=/nowhere/jazzy\n", {}, (), Level.FAIL, "was at /nowhere/jazzy"),
        ("", {"ROS_DISTRO": "jazzy"}, (), Level.OK, "a place of its own"),
        ("", {}, (), Level.WARN, "env.sh is not sourced"),
    ],
)
def test_which_ros_is_told(tmp_path, stamp, environment, missing, level, what):
    (tmp_path / middleware.STAMP).write_text(stamp)
    found = only(middleware.look_at_ros(tmp_path, environment, tmp_path, lambda name: name not in missing))
    assert found.level is level
    assert what in found.what


def test_a_ros_that_was_installed_after_the_set_up_is_noticed(tmp_path):
    (tmp_path / middleware.STAMP).write_text("ros=wheels\n")
    (tmp_path / "opt/ros/jazzy").mkdir(parents=True)
    (tmp_path / "opt/ros/jazzy/setup.bash").touch()
    found = only(middleware.look_at_ros(tmp_path, {}, tmp_path, lambda name: True))
    assert (found.level, found.do.split(",")[0]) == (Level.WARN, "./setup.sh")


PROFILE = "<profiles xmlns='http://a'><t><type>SHM</type><segment_size>{}</segment_size></t></profiles>"


@pytest.mark.parametrize(
    ("profile", "extra", "level", "what"),
    [
        (PROFILE.format(16 << 20), {}, Level.OK, "16 MiB of shared memory"),
        (PROFILE.format(524288), {}, Level.WARN, "512 KiB"),
        (PROFILE.format("lots"), {}, Level.WARN, "0 KiB"),
        ("<profiles>", {}, Level.FAIL, "is no XML"),
        (PROFILE.format(16 << 20), {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"}, Level.WARN, "cyclonedds"),
        (PROFILE.format(16 << 20), {"ROS_DOMAIN_ID": "-1"}, Level.FAIL, "is no domain"),
        (PROFILE.format(16 << 20), {"ROS_DOMAIN_ID": "9" * 5000}, Level.FAIL, "is no domain"),
        (PROFILE.format(16 << 20), {"ROS_DOMAIN_ID": "150"}, Level.WARN, "domain 150"),
    ],
)
def test_the_middleware_and_its_profile_are_told(tmp_path, profile, extra, level, what):
    path = tmp_path / "mine.xml"
    path.write_text(profile)
    found = only(middleware.look_at_middleware({"FASTRTPS_DEFAULT_PROFILES_FILE": str(path), **extra}))
    assert found.level is level
    assert what in found.what
    assert bool(found.do) is (level is not Level.OK)


def test_a_profile_that_is_not_there_is_a_failure_and_none_a_warning(tmp_path):
    absent = {"FASTRTPS_DEFAULT_PROFILES_FILE": str(tmp_path / "no.xml")}
    assert only(middleware.look_at_middleware(absent)).level is Level.FAIL
    assert only(middleware.look_at_middleware({})).level is Level.WARN


@pytest.mark.parametrize(("free", "level"), [(1 << 30, Level.OK), (200 << 20, Level.WARN), (10 << 20, Level.FAIL)])
def test_shared_memory_that_is_too_small_is_told(tmp_path, free, level):
    (tmp_path / "dev/shm").mkdir(parents=True)
    found = only(middleware.look_at_shared_memory(tmp_path, lambda path: disk(free, 2 << 30)))
    assert found.level is level
    assert ("--shm-size" in found.do) is (level is not Level.OK)


def test_no_shared_memory_at_all_is_a_failure(tmp_path):
    assert only(middleware.look_at_shared_memory(tmp_path)).level is Level.FAIL


def test_only_what_nobody_holds_counts_as_left_behind(tmp_path):
    memory, locks = tmp_path / "dev/shm", tmp_path / "proc/locks"
    memory.mkdir(parents=True)
    locks.parent.mkdir()
    for name in ("held", "left", "passed_over"):
        (memory / f"fastrtps_{name}").write_bytes(b"x" * 1_000_000)
        (memory / f"fastrtps_{name}_el").touch()
    held = (memory / "fastrtps_held_el").stat().st_ino
    locks.write_text(f"1: FLOCK  ADVISORY  WRITE 20580 00:1b:{held} 0 EOF\n2: gibberish\n")
    with (memory / "fastrtps_passed_over_el").open() as lives:
        fcntl.flock(lives, fcntl.LOCK_EX)
        found = only(middleware.look_at_shared_memory(tmp_path, lambda path: disk(5_000_000, 6_000_000)))
    assert found.facts["left_behind"] == pytest.approx(1_000_000, rel=0.01)
    assert "left in 1 segments" in found.what


# --- what computes


def pci(root: Path, vendor: str, kind: str) -> None:
    folder = root / "sys/bus/pci/devices/0000:01:00.0"
    folder.mkdir(parents=True)
    (folder / "vendor").write_text(f"{vendor}\n")
    (folder / "class").write_text(f"{kind}\n")


def test_only_a_gpu_of_nvidias_counts(tmp_path):
    assert only(compute.look_at_gpu(tmp_path)).level is Level.OK
    pci(tmp_path, "0x8086", "0x030000")
    assert compute.nvidia_gpus(tmp_path) == 0
    other = tmp_path / "other"
    pci(other, "0x10de", "0x030200")
    assert compute.nvidia_gpus(other) == 1
    audio = tmp_path / "audio"
    pci(audio, "0x10de", "0x040300")
    assert compute.nvidia_gpus(audio) == 0


def test_a_gpu_with_and_without_a_driver_is_told(tmp_path):
    pci(tmp_path, "0x10de", "0x030000")
    told = only(compute.look_at_gpu(tmp_path, lambda words: "NVIDIA GeForce RTX 4090, 580.65, 24564 MiB\n"))
    assert told.what == "NVIDIA GeForce RTX 4090, driver 580.65, 24564 MiB"

    def none(words):
        raise CommandError("nvidia-smi cannot be run")

    told = only(compute.look_at_gpu(tmp_path, none))
    assert told.level is Level.WARN
    assert "nvidia-smi cannot be run" in told.what


CUDA = ("CUDAExecutionProvider", "CPUExecutionProvider")


@pytest.mark.parametrize(
    ("gpu", "providers", "broken", "level"),
    [
        (False, CUDA[1:], "", Level.OK),
        (True, CUDA[1:], "", Level.WARN),
        (True, CUDA, "", Level.OK),
        (True, CUDA, "cuda", Level.WARN),
        (False, CUDA, "cuda", Level.OK),
        (True, CUDA, "cpu", Level.FAIL),
    ],
)
def test_what_onnx_runtime_computes_on_is_tried(gpu, providers, broken, level):
    def opened(path, device):
        if device == broken:
            raise InferenceError(f"not on {device}")

    found = only(compute.look_at_onnx_runtime(gpu, Path("some.onnx"), opened, providers))
    assert found.level is level


@pytest.mark.parametrize(
    ("text", "cuda"),
    [
        ("__version__ = '2.13.0'\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n", "13.0"),
        ("from typing import Optional\ncuda: Optional[str] = None\n", ""),
        ("cuda = '12.8'\n", "12.8"),
        ("", ""),
        (None, ""),
    ],
)
def test_the_build_of_torch_is_read_without_loading_it(tmp_path, text, cuda):
    if text is not None:
        (tmp_path / "version.py").write_text(text)
    assert compute.cuda_of_torch(tmp_path) == cuda
    assert only(compute.look_at_torch(False, tmp_path)).level is Level.OK
    assert only(compute.look_at_torch(True, tmp_path)).level is (Level.OK if cuda else Level.WARN)


def test_what_vulkan_says_is_told_in_its_own_words(tmp_path):
    script = tmp_path / "probe.py"
    script.write_text("print('llvmpipe')")
    assert only(compute.look_at_vulkan(script)).what == "llvmpipe"
    script.write_text("print('no Vulkan driver is installed'); raise SystemExit(1)")
    assert only(compute.look_at_vulkan(script)).what == "the simulator cannot draw: no Vulkan driver is installed"
    assert only(compute.look_at_vulkan(None)).level is Level.WARN


def test_a_model_that_changed_or_is_gone_is_named_beside_the_good_ones(tmp_path):
    for name in ("good", "changed", "gone"):
        (tmp_path / name).write_bytes(b"weights")
        register(tmp_path, name, {"kind": "policy", "settings": {}, "source": {}, "metrics": {}}, {"one": name})
    assert only(compute.look_at_models(tmp_path)).level is Level.OK
    (tmp_path / "changed").write_bytes(b"weightz")
    (tmp_path / "gone").unlink()
    found = compute.look_at_models(tmp_path)
    assert [str(one.level) for one in found] == ["ok", "fail", "fail"]
    assert found[0].what.startswith("good: ")
    assert "changed is not the file" in found[1].what
    assert "gone is not there" in found[2].what


@pytest.mark.parametrize("text", ["", "[]", "a: {}", "a: 3", "a: {kind: policy, files: 7}", "\0", "{"])
def test_a_damaged_registry_is_a_failure_and_no_traceback(tmp_path, text):
    (tmp_path / "registry.yaml").write_text(text)
    found = compute.look_at_models(tmp_path)
    assert found
    assert {one.level for one in found} == {Level.FAIL}


# --- the system


def test_real_time_is_tried_and_what_is_refused_is_told(tmp_path):
    def refuse(*given):
        raise PriorityError("no")

    def allow(*given):
        pass

    def limits(which):
        return 0, 0

    assert only(system.look_at_real_time(tmp_path, allow, allow, limits)).level is Level.OK
    found = only(system.look_at_real_time(tmp_path, refuse, allow, limits))
    assert (found.level, found.facts["refused"]) == (Level.WARN, ["priority"])
    assert "kc-vla setup realtime" in found.do
    (tmp_path / "sys/kernel").mkdir(parents=True)
    (tmp_path / "sys/kernel/realtime").write_text("1\n")
    assert "real-time kernel" in only(system.look_at_real_time(tmp_path, allow, refuse, limits)).what


@pytest.mark.parametrize(("free", "level"), [(50e9, Level.OK), (5e9, Level.WARN), (0.5e9, Level.FAIL)])
def test_a_disk_that_is_nearly_full_is_told_once(tmp_path, free, level):
    folders = {"here": tmp_path, "cache": tmp_path / "not/yet/there"}
    found = only(system.look_at_disk(folders, lambda path: disk(int(free))))
    assert found.level is level
    assert "here, cache" in found.what


def test_a_port_on_which_something_listens_is_told():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        assert only(system.look_at_ports(ports={port: "page"})).level is Level.OK  # bound, and nobody listens
        listener.listen()
        found = only(system.look_at_ports(ports={port: "page"}))
    assert found.level is Level.WARN
    assert f"{port} (page)" in found.what


def test_a_machine_without_the_tables_of_ports_has_none(tmp_path):
    assert system.listening(tmp_path) == []


@pytest.mark.parametrize(
    ("answer", "level"), [((0, 0x2001, 850), Level.OK), ((5, 0x41, 0), Level.WARN), ((0, 0x40, 0), Level.WARN)]
)
def test_whether_the_clock_is_kept_right_is_told(answer, level):
    assert only(system.look_at_clock(lambda: answer)).level is level


def test_the_clock_of_this_machine_can_be_asked():
    state, _, error_us = system.ask_clock()
    assert 0 <= state <= 5
    assert error_us >= 0


# --- all together


@pytest.mark.nightly
def test_a_machine_on_which_there_is_nothing_is_told_to_the_end(tmp_path):
    """An empty file system: no look raises, hangs or needs more than is there."""
    patient = Patient(tmp_path / "root", tmp_path / "python", {}, tmp_path)
    found = {one.name: one for one in examine(patient, 120.0)}  # apart: a priority that is tried must not stay here
    assert found.keys() >= {"ROS 2", "middleware", "GPU", "ONNX Runtime", "Vulkan", "real time", "disk", "clock"}
    assert not [one for one in found.values() if "could not be looked at" in one.what]
    assert found["CAN"].level is Level.WARN
    assert found["shared memory"].level is Level.FAIL
    assert found["ports"].level is Level.OK
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_models_of_ones_own_are_looked_at_too(tmp_path, monkeypatch):
    def nowhere():
        raise ModelError("the package kc_vla is not installed here: source env.sh")

    monkeypatch.setattr("kc_vla.machine.doctor.shipped_models", nowhere)
    own = tmp_path / "my_models"
    own.mkdir()
    (own / "a").write_bytes(b"weights")
    register(own, "mine", {"kind": "policy", "settings": {}, "source": {}, "metrics": {}}, {"one": "a"})
    found = looks(Patient(folder=tmp_path))["models"]()
    assert [str(one.level) for one in found] == ["fail", "ok"]
    assert (found[1].name, found[1].what) == ("my_models", "mine: each file as registered")


def test_the_real_thing_tells_each_thing_as_lines_and_as_json(capsys):
    status = main(["doctor", "--json", "--patience", "120"])
    told = json.loads(capsys.readouterr().out)
    names = {row["name"].split()[0] for row in told["findings"]}
    assert names >= {"ROS", "middleware", "shared", "GPU", "ONNX", "models", "real", "disk", "ports", "clock"}
    assert told["worst"] in ("ok", "warn", "fail")
    assert status == (1 if told["worst"] == "fail" else 0)


@pytest.mark.parametrize(("level", "status"), [(Level.OK, 0), (Level.WARN, 0), (Level.FAIL, 1)])
def test_the_exit_status_is_that_of_the_worst(monkeypatch, capsys, level, status):
    monkeypatch.setattr("kc_vla.machine.doctor.examine", lambda patient, seconds: [GOOD, Finding("x", level, "y", "z")])
    assert main(["doctor"]) == status
    assert capsys.readouterr().out.startswith("ok    good")
