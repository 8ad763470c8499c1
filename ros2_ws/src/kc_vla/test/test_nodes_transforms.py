"""The node of the transforms in a process of its own, heard as viewers hear it."""

from pathlib import Path

import numpy as np
import pytest
from node_process import Peer, running
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core import topics
from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.core.robot import load_robot
from kc_vla.core.urdf import Placed, RobotTree
from kc_vla.ros import qos
from kc_vla.ros.convert import joint_message, time_message
from kc_vla.ros.transforms import placed_in, transforms_message

MODULE = "kc_vla.nodes.transforms"
PIPER = load_robot("piper")
CANNOT_START = 2
STATIC_LISTENER = QoSProfile(
    depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""As tf2's static listener has it."""
HAND_EYE = """
parameters: {calibration_type: eye_in_hand, robot_base_frame: robot_base, robot_effector_frame: flange,
  tracking_base_frame: wrist_optical_frame, tracking_marker_frame: board}
transformation: {x: 0.02, y: -0.05, z: 0.04, qx: 0.0, qy: 0.0, qz: 0.70710678, qw: 0.70710678}
"""
JOINTS = [0.3, 0.9, -1.1, 0.2, 0.4, -0.6]


class Viewer(Peer):
    """Listens as a viewer does, and tells joint states as an arm does."""

    def __enter__(self) -> "Viewer":
        super().__enter__()
        self.moving: list[TFMessage] = self.hear(TFMessage, topics.TF, 100)
        self.standing: list[TFMessage] = self.hear(TFMessage, topics.TF_STATIC, STATIC_LISTENER)
        self.descriptions: list[String] = self.hear(String, topics.ROBOT_DESCRIPTION, qos.STATUS)
        self._states = self.node.create_publisher(JointState, topics.JOINT_STATES, qos.STATE)
        self._places = self.node.create_publisher(TFMessage, topics.CAMERA_PLACES, qos.STATUS)
        return self

    def now_ns(self) -> int:
        return int(self.node.get_clock().now().nanoseconds)

    def tell(self, stamp_ns: int, names: tuple[str, ...] = PIPER.names, positions: list[float] | None = None) -> None:
        values = [*JOINTS, 0.04] if positions is None else positions
        self._states.publish(joint_message(names, values, [0.0] * len(values), time_message(stamp_ns)))

    def tell_until_heard(self) -> int:
        """States at 20 Hz until one has come through; its stamp."""

        def heard() -> bool:
            self.tell(self.now_ns())
            return bool(self.moving)

        self.until(self._states.get_subscription_count)
        self.until(heard)
        stamp = self.moving[-1].transforms[0].header.stamp
        return int(stamp.sec) * 10**9 + int(stamp.nanosec)

    def place(self, placed: list[Placed]) -> None:
        self._places.publish(transforms_message(placed, time_message(self.now_ns())))


def pose(messages: list[TFMessage], frame: str, root: str) -> np.ndarray:
    above = {each.child: each for message in messages for each in placed_in(message)}
    found = np.eye(4)
    while frame != root:
        found, frame = above[frame].pose @ found, above[frame].parent
    return found


def test_a_viewer_hears_where_links_and_cameras_are(tmp_path: Path) -> None:
    (tmp_path / "wrist.yaml").write_text(HAND_EYE)
    given = {"robot": "piper", "hand_eye": tmp_path / "wrist.yaml", "base": "'0 0 0.5 0 0 0 1'"}
    with running(MODULE, tmp_path / "log", **given), Viewer() as viewer:
        viewer.until(lambda: viewer.standing and viewer.descriptions)
        stamp_ns = viewer.tell_until_heard()
        said = [viewer.moving[-1], viewer.standing[-1]]
        assert {(t.header.stamp.sec, t.header.stamp.nanosec) for t in said[0].transforms} == {
            divmod(stamp_ns, 10**9)  # that of the joint state, not the time of telling
        }
        flange = Kinematics(PIPER.links_of("")).flange(np.array(JOINTS))
        np.testing.assert_allclose(pose(said, "tool", "robot_base"), flange, atol=1e-6)
        wrist = pose_matrix([0.02, -0.05, 0.04], [0, 0, np.sqrt(0.5), np.sqrt(0.5)])
        np.testing.assert_allclose(pose(said, "wrist_optical_frame", "robot_base"), flange @ wrist, atol=1e-6)
        np.testing.assert_allclose(pose(said, "robot_base", "world")[:3, 3], [0, 0, 0.5])
        assert RobotTree(viewer.descriptions[-1].data).root == "robot_base"


def test_what_was_told_is_not_told_again_and_what_is_not_known_is_left_out(tmp_path: Path) -> None:
    with running(MODULE, tmp_path / "log", robot="piper"), Viewer() as viewer:
        viewer.tell_until_heard()
        last_ns = viewer.now_ns() + 10**9
        viewer.tell(last_ns)
        viewer.until(lambda: len(viewer.moving) > 1 and newest(viewer) == last_ns)
        count = len(viewer.moving)
        for stamp_ns in (last_ns, last_ns - 10**8, last_ns + 10**6, 0, last_ns + 10**11):
            viewer.tell(stamp_ns)
        viewer.tell(last_ns + 10**8, ("joint1", "joint2"), [0.1, float("nan")])
        viewer.until(lambda: newest(viewer) == last_ns + 10**8)
        assert len(viewer.moving) == count + 1
        assert [each.child_frame_id for each in viewer.moving[-1].transforms] == ["link1"]


def newest(viewer: Viewer) -> int:
    stamp = viewer.moving[-1].transforms[0].header.stamp
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)


def test_the_cameras_of_a_simulator_stand_beside_the_robot(tmp_path: Path) -> None:
    eye = pose_matrix([0.3, 0.0, 0.6], [1.0, 0.0, 0.0, 0.0])
    with running(MODULE, tmp_path / "log"), Viewer() as viewer:
        viewer.until(lambda: viewer.standing)
        bad = transforms_message([Placed("a", "a", eye)], time_message(0))
        viewer._places.publish(bad)
        placed = [
            Placed("panda_link0", "third_person_optical", eye),
            Placed("somewhere", "panda_hand_tcp", eye),  # as a bag has it, played: the robot's own count
        ]

        def heard() -> bool:
            viewer.place(placed)
            return "third_person_optical" in {each.child_frame_id for each in viewer.standing[-1].transforms}

        viewer.until(heard)
        np.testing.assert_allclose(pose(viewer.standing[-1:], "third_person_optical", "panda_link0"), eye, atol=1e-9)
        np.testing.assert_allclose(pose(viewer.standing[-1:], "panda_hand_tcp", "panda_hand")[:3, 3], [0, 0, 0.1034])


def test_beside_a_driver_that_tells_of_the_links_only_cameras_are_told(tmp_path: Path) -> None:
    (tmp_path / "wrist.yaml").write_text(HAND_EYE)
    given = {"robot": "piper", "hand_eye": tmp_path / "wrist.yaml", "robot_links": False}
    with running(MODULE, tmp_path / "log", **given), Viewer() as viewer:
        viewer.until(lambda: viewer.standing)
        assert [each.child_frame_id for each in viewer.standing[-1].transforms] == ["wrist_optical_frame"]
        assert viewer.node.count_publishers(topics.TF) == 0
        assert viewer.node.count_publishers(topics.ROBOT_DESCRIPTION) == 0


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"robot": "piper", "urdf": "none.urdf"}, "the description none.urdf cannot be read"),
        ({"robot": "piper", "hand_eye": "none.yaml"}, "cannot read the calibration none.yaml"),
        ({"robot": "piper", "base": "'1 2 3'"}, "base is '1 2 3': x y z qx qy qz qw are wanted"),
        ({"robot": "piper", "rate": 0.1}, "parameter 'rate' is 0.1: allowed is"),
    ],
    ids=str,
)
def test_it_says_why_it_cannot_start(tmp_path: Path, parameters: dict[str, object], line: str) -> None:
    with running(MODULE, tmp_path / "log", **parameters) as process:
        assert process.wait(60) == CANNOT_START
    said = (tmp_path / "log").read_text()
    assert line in said
    assert "Traceback" not in said


def test_joint_states_of_another_robot_are_told_of(tmp_path: Path) -> None:
    with running(MODULE, tmp_path / "log", robot="piper"), Viewer() as viewer:
        viewer.until(viewer._states.get_subscription_count)

        def told() -> bool:
            viewer.tell(viewer.now_ns(), ("toy_joint1",), [0.1])
            return "the joint states name toy_joint1, the description has joint1" in (tmp_path / "log").read_text()

        viewer.until(told)
        assert not viewer.moving
