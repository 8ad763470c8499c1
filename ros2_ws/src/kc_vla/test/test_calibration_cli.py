"""`kc-vla calibrate` on pictures and on recorded episodes: files that are read again, pictures, clear refusals."""

from array import array

import cv2
import numpy as np
import pytest
import yaml
from builtin_interfaces.msg import Time
from episode_bag import Script, info
from piper import KINEMATICS, LIMITS
from rclpy.serialization import serialize_message
from rendered_board import MATRIX, SIZE, looking_pose, render
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Image, JointState

from kc_vla.arm.inverse import UnreachableError, joints_for
from kc_vla.bags.topics import Qos, TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.calibration import material
from kc_vla.calibration.board import CalibrationBoard
from kc_vla.calibration.hand_eye import pose_of
from kc_vla.calibration.reading import load_latency, load_offsets
from kc_vla.cameras.calibration import load_calibration
from kc_vla.cameras.sources import CapturedFrame
from kc_vla.cli import main

BOARD = CalibrationBoard()
TOPICS = {
    "/wrist/image_raw": TopicInfo("sensor_msgs/msg/Image", Qos(reliable=False, depth=1)),
    "/joint_states": TopicInfo("sensor_msgs/msg/JointState", Qos(reliable=False, depth=5)),
}
CAMERA = pose_of(np.array([0.04, 0.0, 0.03, 0.0, 0.0, 1.6]))
"""On the flange, looking along its z axis."""
MOMENT_S, RATE_S = 1.0, 0.1


@pytest.fixture(scope="module")
def lens(tmp_path_factory):
    """A calibration of the rendering camera, made with the command itself."""
    folder = tmp_path_factory.mktemp("lens")
    (folder / "pictures").mkdir()
    chance = np.random.default_rng(4)
    for k in range(24):
        cv2.imwrite(str(folder / f"pictures/{k:02d}.png"), render(BOARD, looking_pose(chance, BOARD), chance))
    words = ["calibrate", "camera", f"--source={folder / 'pictures'}", "--name=wrist", "--serial=ABC1"]
    assert main([*words, f"--output={folder / 'wrist.yaml'}"]) == 0
    return folder / "wrist.yaml"


def test_the_lens_is_a_file_that_the_camera_node_reads_and_a_picture(lens):
    found = load_calibration(lens)
    assert (found.width, found.height) == SIZE
    np.testing.assert_allclose(np.reshape(found.k, (3, 3)), MATRIX, atol=5.0)
    made = yaml.safe_load(lens.read_text())["calibration"]
    assert made["serial"] == "ABC1"
    assert made["residuals"]["rms_px"] < 0.3
    assert cv2.imread(str(lens.with_suffix(".png"))).shape[1] == 4 * 320


def write_bag(folder, moments):
    """A recording of an arm: of each moment the time (s), the joint angles, and the picture or None."""
    writer = EpisodeBagWriter(folder, TOPICS, info(Script()))
    for time_s, angles, picture in moments:
        ns = 10**9 + round(time_s * 1e9)
        stamp = Time(sec=ns // 10**9, nanosec=ns % 10**9)
        joints = JointState(name=[f"joint{j}" for j in range(1, 7)], position=angles.tolist())
        joints.header.stamp = stamp
        assert writer.write("/joint_states", serialize_message(joints), ns, ns)
        if picture is not None:
            height, width = picture.shape[:2]
            image = Image(height=height, width=width, encoding="rgb8", step=3 * width)
            image.data = array("B", picture.tobytes())
            image.header.stamp = stamp
            assert writer.write("/wrist/image_raw", serialize_message(image), ns, ns)
    writer.close()
    return folder


def standing(poses):
    """The moments of an arm that stands at each of the joint angles for a second, and is looked at in the middle."""
    for number, (angles, picture) in enumerate(poses):
        for k in range(round(MOMENT_S / RATE_S)):
            yield number * MOMENT_S + k * RATE_S, angles, picture if k == 5 else None


@pytest.fixture(scope="module")
def poses():
    """Twelve times the joint angles of a Piper, and what the camera on its wrist sees of a board on the table."""
    chance = np.random.default_rng(6)
    board = pose_of(np.array([0.25, 0.12, 0.0, 0.0, 0.0, 0.0])) @ pose_of(np.array([0, 0, 0, np.pi, 0, 0]))
    middle = (board @ [BOARD.columns * BOARD.square / 2, BOARD.rows * BOARD.square / 2, 0, 1])[:3]
    found = []
    while len(found) < 12:
        place = middle + chance.uniform([-0.18, -0.18, 0.18], [0.18, 0.18, 0.3])
        look = (middle - place) / np.linalg.norm(middle - place)
        side = np.cross([*chance.normal(0, 1, 2), 0.0], look)
        side /= np.linalg.norm(side)
        camera = np.eye(4)
        camera[:3, :3], camera[:3, 3] = np.stack([side, np.cross(look, side), look], axis=1), place
        try:
            start = np.radians([20.0, 70.0, -60.0, 0.0, 40.0, 0.0])
            angles = joints_for(camera @ np.linalg.inv(CAMERA), start, LIMITS, KINEMATICS)
        except UnreachableError:
            continue
        seen = np.linalg.inv(KINEMATICS.flange(angles) @ CAMERA) @ board
        picture = render(BOARD, seen, chance)
        if BOARD.find(picture) is not None:
            found.append((angles, picture))
    return found


def test_an_opencv_that_cannot_solve_it_is_named_with_the_one_that_can(poses, lens, tmp_path, capsys, monkeypatch):
    monkeypatch.delattr(cv2, "calibrateHandEye")  # OpenCV 5 is without it
    bag = write_bag(tmp_path / "bag", standing(poses))
    words = [f"--bag={bag}", "--view=wrist", f"--camera={lens}", f"--output={tmp_path / 'wrist.yaml'}"]
    assert main(["calibrate", "hand-eye", "--setup=in-hand", *words]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"kc-vla calibrate hand-eye: OpenCV {cv2.__version__} has no calibrateHandEye, 4 has: ")
    assert last.endswith("pip install --force-reinstall --no-deps 'opencv-python-headless<5'")
    assert not (tmp_path / "wrist.yaml").exists()


def test_the_camera_on_the_flange_is_found_from_a_recording(poses, lens, tmp_path, capsys):
    bag, output = write_bag(tmp_path / "bag", standing(poses)), tmp_path / "handeye" / "wrist.yaml"
    words = [f"--bag={bag}", "--view=wrist", f"--camera={lens}", f"--output={output}"]
    assert main(["calibrate", "hand-eye", "--setup=in-hand", *words]) == 0, capsys.readouterr().err
    content = yaml.safe_load(output.read_text())
    assert content["parameters"]["calibration_type"] == "eye_in_hand"
    assert content["parameters"]["tracking_base_frame"] == "wrist_optical_frame"  # as the robot calls it
    found = content["transformation"]
    place = [found[axis] for axis in "xyz"]
    assert np.linalg.norm(np.array(place) - CAMERA[:3, 3]) < 3e-3
    turn = Rotation.from_quat([found[f"q{axis}"] for axis in "xyzw"]).as_matrix() @ CAMERA[:3, :3].T
    assert np.degrees(Rotation.from_matrix(turn).magnitude()) < 0.6
    assert output.with_suffix(".png").exists()


def test_views_that_are_too_poor_are_shown_beside_what_was_good(poses, lens, tmp_path, capsys):
    output, good = tmp_path / "wrist.yaml", b"of a good calibration"
    output.with_suffix(".png").write_bytes(good)
    bag = write_bag(tmp_path / "bag", standing(poses[:3]))
    words = [f"--bag={bag}", "--view=wrist", f"--camera={lens}", f"--output={output}"]
    assert main(["calibrate", "hand-eye", "--setup=in-hand", *words]) == 1
    assert f"({tmp_path / 'wrist.refused.png'} shows the views)" in capsys.readouterr().err
    assert cv2.imread(str(tmp_path / "wrist.refused.png")) is not None
    assert output.with_suffix(".png").read_bytes() == good
    assert not output.exists()


def test_a_camera_of_which_there_are_enough_views_is_calibrated_by_ctrl_c(tmp_path, monkeypatch):
    chance, taken = np.random.default_rng(3), []

    class Camera:
        def read(self):
            if len(taken) == 14:
                raise KeyboardInterrupt
            taken.append(render(BOARD, looking_pose(chance, BOARD), chance))
            return CapturedFrame(taken[-1], 0)

        def close(self):
            taken.append("closed")

    asked = []
    monkeypatch.setattr(material, "open_source", lambda spec: asked.append(spec) or Camera())
    words = ["--source=/dev/video2", "--name=x", "--width=640", "--height=480", "--format=MJPG"]
    assert main(["calibrate", "camera", *words, f"--output={tmp_path / 'x.yaml'}"]) == 0
    assert yaml.safe_load((tmp_path / "x.yaml").read_text())["calibration"]["residuals"]["views"] >= 10
    assert taken[-1] == "closed"
    assert (asked[0].width, asked[0].height, asked[0].format) == (640, 480, "MJPG")


def test_a_joint_that_tells_a_wrong_angle_is_found(poses, lens, tmp_path, capsys):
    wrong = np.radians([0.0, 0.0, 1.5, 0.0, 0.0, 0.0])
    bag, output = (
        write_bag(tmp_path / "bag", standing([(angles - wrong, seen) for angles, seen in poses])),
        tmp_path / "a.yaml",
    )
    words = [f"--bag={bag}", "--view=wrist", f"--camera={lens}", f"--output={output}"]
    assert main(["calibrate", "joints", "--setup=in-hand", *words]) == 0, capsys.readouterr().err
    np.testing.assert_allclose(load_offsets(output, LIMITS).angles, wrong, atol=np.radians(0.2))


def test_how_late_a_camera_is_is_found_from_an_arm_that_is_moved(tmp_path, capsys):
    chance = np.random.default_rng(8)
    late_s, rate = 0.06, 50
    times = np.arange(20 * rate) / rate
    ways = [(chance.uniform(0.3, 1.5), chance.uniform(0, 6), 0.1) for _ in range(6)]
    room = cv2.resize(chance.integers(0, 255, (24, 64, 3), np.uint8), (640, 240), interpolation=cv2.INTER_CUBIC)

    def angle(at):
        return sum(size * np.sin(2 * np.pi * rate * at + begin) for rate, begin, size in ways)

    def seen(at):
        left = 320 - 64 + 200 * angle(at)
        return cv2.warpAffine(room, np.array([[1.0, 0.0, -left], [0.0, 1.0, -60.0]]), (128, 96))

    def moments():
        for number, at in enumerate(times):
            yield at, np.array([angle(at), 0, 0, 0, 0, 0]), seen(at - late_s) if number % 2 == 0 else None

    bag, output = write_bag(tmp_path / "bag", moments()), tmp_path / "latency.yaml"
    assert main(["calibrate", "latency", f"--bag={bag}", "--view=wrist", f"--output={output}"]) == 0, (
        capsys.readouterr().err
    )
    assert load_latency(output) == pytest.approx(late_s, abs=0.01)


def test_a_board_is_a_page_to_print(tmp_path):
    assert main(["calibrate", "board", f"--output={tmp_path / 'board.pdf'}"]) == 0
    assert (tmp_path / "board.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["camera", "--source=absent", "--name=x"], "no camera source 'absent'"),
        (["hand-eye", "--setup=in-hand", "--bag=absent", "--view=wrist", "--camera=absent"], "absent"),
        (["latency", "--bag=absent", "--view=wrist"], "absent"),
        (["board", "--columns=30"], "does not fit on A4"),
        (["board", "--marker=40"], "a marker must be smaller than a square"),
        (["board", "--rows=1"], "at least 3 x 3"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(tmp_path, monkeypatch, capsys, words, told):
    monkeypatch.chdir(tmp_path)
    output = tmp_path / "out.yaml"
    assert main(["calibrate", *words, f"--output={output}"]) == 1
    error = capsys.readouterr().err
    assert told in error
    assert len(error.splitlines()) == 1
    assert not output.exists()
