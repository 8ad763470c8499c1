"""A table before an emulated Piper, as a world for tests: cameras see its things, and the arm can carry them.

The arm is emulated, and the images are drawn, so that something has to say what a hand does to a thing. This does: a
thing that is between the fingers keeps them apart, moves with the hand that holds it, and falls where they open. It
knows the arm by the joint angles and the width that the arm reports.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from box_scene import HEIGHT, MATRIX, WIDTH, Shown, Thing, cast
from numpy.typing import NDArray
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from seen_desk import BOXES, PIPER, Desk, box_message, picture_of
from sensor_msgs.msg import CameraInfo, JointState
from stack import PATIENCE_S
from std_msgs.msg import Header
from vision_msgs.msg import Detection2DArray

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core import topics
from kc_vla.memory.images.crop import PixelBox
from kc_vla.ros import qos
from kc_vla.skills.grips import best_grip

_LOOK_S = 0.2
"""Between two images of a camera."""
_AT_ONCE = 5
"""Callbacks between two looks at what the hand does."""
_WALL_M, _FLOOR_M = 0.008, 0.005
_NEAR_M, _LOOSE_M = 0.022, 0.003
"""A thing is between the fingers when its middle is no further than the first from theirs; fingers that are wider than
the thing by the second do not hold it."""


@dataclass
class PiperTable(Desk):
    """Things that the hand can carry, and a tray.

    Attributes:
        movable: things that stand on the table, by kind; each is `Thing.size[1]` wide for the fingers.
        tray: where it stands, its middle (x, y), m.
        held: kind of the thing in the hand; empty for none.
        slippery: the hand holds nothing: what is lifted falls.
        each_look: called before each image.
        silent: no image is taken, as of cameras that are gone.
    """

    movable: dict[str, Thing] = field(default_factory=dict)
    tray: tuple[float, float] = (0.36, -0.12)
    held: str = ""
    slippery: bool = False
    each_look: Callable[[], None] = lambda: None
    silent: bool = False

    def __enter__(self) -> PiperTable:
        super().__enter__()
        self._arm, self._grip = Kinematics(PIPER.links_of("")), best_grip(PIPER)[1]
        self.tool: NDArray[np.float64] = np.full(3, np.inf)
        self.width = self.highest = 0.0
        self._apart, self._looked_at = 0.0, 0.0
        self._joints: JointState | None = None
        self._offset = np.zeros(3)
        self.node.create_subscription(JointState, topics.JOINT_STATES, self._on_joints, qos.STATE)
        self._emulator = self.node.create_client(SetParameters, "piper_emulator/set_parameters")
        self._found = self.node.create_publisher(Detection2DArray, BOXES, 10)
        return self

    def work(self) -> None:
        """Let the world go on for a moment; call it often."""
        for _ in range(_AT_ONCE):
            self._executor.spin_once(timeout_sec=0.005)
        if self._joints is not None:
            self._follow(self._joints)
        now = time.monotonic()
        if self.silent or now - self._looked_at < _LOOK_S:
            return
        self._looked_at = now
        self.each_look()
        self.take_images()

    def until(self, done: Callable[[], object]) -> object:
        """Let the world go on until `done()` is true and return what it said; fail the test if it never is."""
        end = time.monotonic() + PATIENCE_S
        while not (found := done()):
            assert time.monotonic() < end, "waited in vain"
            self.work()
        return found

    def cameras_file(self, folder: Path) -> Path:
        """Write a file for `cameras:=` with the topics of the driver of these cameras, and return it."""
        kinds = {"topic": topics.image_topic, "info": topics.camera_info_topic, "depth": topics.depth_topic}
        lines = [
            f"{view}: {{{', '.join(f'{name}: {self.driver}{topic(view)}' for name, topic in kinds.items())}}}\n"
            for view in PIPER.views
        ]
        file = folder / "table.yaml"
        file.write_text("".join(lines))
        return file

    def take_images(self) -> None:
        """Publish an image of each camera with its depth, and what a detector finds in it."""
        parts = [*self.movable.values(), *self.tray_parts()]
        for view in PIPER.views:
            header = Header(stamp=self.now(), frame_id=PIPER.cameras[view])
            shown = cast(parts, self.places[view])
            self._depths[view].publish(self._depth_of(shown, header))
            info = CameraInfo(header=header, width=WIDTH, height=HEIGHT, distortion_model="plumb_bob")
            info.d, info.k = [0.0] * 5, [float(each) for each in MATRIX.ravel()]
            self._infos[view].publish(info)
            self._images[view].publish(picture_of(shown, header))
            found = Detection2DArray(header=header)
            boxes = {kind: _union(shown, kind) for kind in (*self.movable, "tray")}
            found.detections = [box_message(kind, *box) for kind, box in boxes.items() if box is not None]
            self._found.publish(found)

    def tray_parts(self) -> list[Thing]:
        """Return the floor and the walls of the tray."""
        x, y = self.tray
        side, high = 0.2, 0.03
        walls = [
            Thing("tray", (x + sx * (side - _WALL_M) / 2, y + sy * (side - _WALL_M) / 2, high / 2), size)
            for sx, sy, size in (
                (1, 0, (_WALL_M, side, high)),
                (-1, 0, (_WALL_M, side, high)),
                (0, 1, (side, _WALL_M, high)),
                (0, -1, (side, _WALL_M, high)),
            )
        ]
        return [Thing("tray", (x, y, _FLOOR_M / 2), (side, side, _FLOOR_M)), *walls]

    def is_in_tray(self, kind: str) -> bool:
        """Return whether a thing lies in the tray."""
        x, y, z = self.movable[kind].position
        return max(abs(x - self.tray[0]), abs(y - self.tray[1])) < 0.1 and z < 0.06 and kind != self.held

    def drop(self) -> None:
        """Let what is in the hand slip out of it."""
        if self.held:
            self._fall(self.held)

    # -- the hand -----------------------------------------------------------------------------------------------

    def _on_joints(self, message: JointState) -> None:
        self._joints = message

    def _follow(self, message: JointState) -> None:
        self._joints = None
        positions = np.array(message.position)
        self.tool = (self._arm.flange(positions[:6]) @ self._grip)[:3, 3]
        self.width = float(positions[6])
        if self.held:
            thing = self.movable[self.held]
            self.movable[self.held] = replace(thing, position=tuple((self.tool + self._offset).tolist()))
            self.highest = max(self.highest, float(self.tool[2]))
            if self.width > thing.size[1] + _LOOSE_M or self.slippery:
                self._fall(self.held)
            return
        near = [(kind, each) for kind, each in self.movable.items() if self._is_between(each)]
        if not near:
            self._keep_apart(0.0)
            return
        kind, thing = near[0]
        self._keep_apart(thing.size[1])
        if self._apart and self.width < thing.size[1] + _LOOSE_M / 2 and not self.slippery:
            self.held, self._offset = kind, np.array(thing.position) - self.tool

    def _is_between(self, thing: Thing) -> bool:
        away = np.array(thing.position) - self.tool
        return bool(np.linalg.norm(away[:2]) < _NEAR_M and abs(away[2]) < thing.size[2] / 2) and (
            self.width > thing.size[1] - _LOOSE_M
        )

    def _fall(self, kind: str) -> None:
        thing = self.movable[kind]
        x, y, _ = thing.position
        in_tray = max(abs(x - self.tray[0]), abs(y - self.tray[1])) < 0.1
        self.movable[kind] = thing.at(x, y, (_FLOOR_M if in_tray else 0.0) + thing.size[2] / 2)
        self.held = ""
        self._keep_apart(0.0)

    def _keep_apart(self, width: float) -> None:
        """Keep the fingers of the emulated arm apart by so much, m; 0.0 for nothing between them."""
        if width == self._apart or not self._emulator.service_is_ready():
            return
        self._apart = width
        value = ParameterValue(
            type=ParameterType.PARAMETER_STRING, string_value=f"between {width:.4f}" if width else "none"
        )
        self._emulator.call_async(SetParameters.Request(parameters=[Parameter(name="fault", value=value)]))


def _union(shown: Shown, kind: str) -> PixelBox | None:
    """Return the box of all that is seen of the parts of one kind; None where that is too little."""
    found = [box for at, each in enumerate(shown.things) if each.kind == kind and (box := shown.box(at)) is not None]
    if not found:
        return None
    left, top = min(each.left for each in found), min(each.top for each in found)
    return PixelBox(left, top, max(each.right for each in found), max(each.bottom for each in found))
