"""`kc-vla calibrate board|camera|hand-eye|joints|latency`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np

from kc_vla.arm.kinematics import Kinematics
from kc_vla.bags.errors import BagError
from kc_vla.calibration.board import Array, CalibrationBoard
from kc_vla.calibration.errors import PoorCalibrationError
from kc_vla.calibration.files import write_camera, write_hand_eye, write_joints, write_latency
from kc_vla.calibration.hand_eye import calibrate_hand_eye, calibrate_joints
from kc_vla.calibration.intrinsics import board_pose, calibrate_intrinsics, draw_detections, residuals
from kc_vla.calibration.latency import measure_latency
from kc_vla.calibration.material import BoardView, board_views, picture_speeds, recorded_joints, standing_views
from kc_vla.cameras.calibration import load_calibration
from kc_vla.cameras.errors import CameraError
from kc_vla.cameras.sources import SourceSpec
from kc_vla.cli.renamed_option import add_robot
from kc_vla.cli.verbs import exit_status
from kc_vla.core.errors import StackError
from kc_vla.core.files import replacing
from kc_vla.core.robot import load_robot
from kc_vla.episodes.recording import Recording


def main(words: Sequence[str]) -> int:
    """Run one calibration; return the exit status."""
    options = _parser().parse_args(words[1:])
    failures = (PoorCalibrationError, CameraError, BagError, StackError)
    return exit_status(f"calibrate {options.what}", lambda: options.run(options), *failures)


def _board(options: argparse.Namespace) -> None:
    board = _the_board(options)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    board.write_pdf(options.output)
    print(f"{options.output}: print it in its true size on something flat, then measure a square")


def _camera(options: argparse.Namespace) -> None:
    source = SourceSpec(options.source, width=options.width, height=options.height, format=options.format)
    views = board_views(source, _the_board(options), options.views)
    sizes = {view.picture.shape[1::-1] for view in views}
    if len(sizes) > 1:
        raise PoorCalibrationError(f"images of different sizes, {sorted(sizes)}: take all with one setting")
    size = sizes.pop() if sizes else (1, 1)
    lens = calibrate_intrinsics([view.corners for view in views], size)
    write_camera(options.output, options.name, options.serial, size, lens)
    lefts = [residuals(v.corners, lens.matrix, lens.distortion, b) for v, b in zip(views, lens.boards, strict=True)]
    _draw(options.output, views, lefts)
    print(f"{options.output}: {lens.rms:.3f} px over {len(views)} views")


def _hand_eye(options: argparse.Namespace) -> None:
    views, boards, lefts = _standing(options)
    in_hand = options.setup == "in-hand"
    kinematics = _kinematics(options)
    robot = load_robot(options.robot)
    with _shown(options.output, views, lefts):
        found = calibrate_hand_eye([kinematics.flange(_angles(view)) for view in views], boards, in_hand)
    frame = robot.cameras.get(options.view, "")
    write_hand_eye(options.output, options.view, options.serial, in_hand, found, frame, robot.base_frame)
    print(
        f"{options.output}: the board moves by {np.median(found.place_mm):.2f} mm and "
        f"{np.median(found.turn_degrees):.2f} degrees (medians of {len(views)} poses)"
    )


def _joints(options: argparse.Namespace) -> None:
    views, boards, lefts = _standing(options)
    flange = _kinematics(options).flange
    with _shown(options.output, views, lefts):
        found = calibrate_joints([_angles(v) for v in views], boards, options.setup == "in-hand", flange)
    write_joints(options.output, options.serial, found, load_robot(options.robot))
    offsets = ", ".join(f"{value:+.2f}" for value in np.degrees(found.offsets))
    print(f"{options.output}: {offsets} degrees; {found.before_mm:.2f} mm without, {found.after_mm:.2f} mm with them")


def _latency(options: argparse.Namespace) -> None:
    recording = Recording(options.bag)
    joints = recorded_joints(recording)
    found = measure_latency(joints.times, joints.speeds, *picture_speeds(recording, options.view))
    write_latency(options.output, options.view, options.serial, found)
    print(f"{options.output}: the camera is {found.seconds * 1e3:.1f} ms late, correlation {found.likeness:.2f}")


def _standing(options: argparse.Namespace) -> tuple[list[BoardView], list[Array], list[Array]]:
    """Return the views of the standing arm, and of each the pose of the board and the residuals of its corners."""
    lens = load_calibration(options.camera)
    matrix, distortion = np.reshape(lens.k, (3, 3)), np.array(lens.d)
    views = standing_views(Recording(options.bag), options.view, _the_board(options))
    boards = [board_pose(view.corners, matrix, distortion) for view in views]
    lefts = [residuals(v.corners, matrix, distortion, b) for v, b in zip(views, boards, strict=True)]
    return views, boards, lefts


@contextmanager
def _shown(output: Path, views: Sequence[BoardView], lefts: Sequence[Array]) -> Iterator[None]:
    """Draw the views beside the file that is made of them; of those that are too poor beside none that is there."""
    try:
        yield
    except PoorCalibrationError as error:
        if not views:
            raise
        refused = output.with_name(f"{output.stem}.refused.yaml")
        _draw(refused, views, lefts)
        raise PoorCalibrationError(f"{error} ({refused.with_suffix('.png')} shows the views)") from error
    _draw(output, views, lefts)


def _kinematics(options: argparse.Namespace) -> Kinematics:
    return Kinematics(load_robot(options.robot).links_of(options.firmware))


def _angles(view: BoardView) -> Array:
    assert view.angles is not None
    return view.angles


def _draw(output: Path, views: Sequence[BoardView], lefts: Sequence[Array]) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    picture = draw_detections([v.picture for v in views], [v.corners for v in views], lefts)
    whole, encoded = cv2.imencode(".png", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
    assert whole  # it is asked for nothing that PNG has not
    with replacing(output.with_suffix(".png")) as part:
        part.write_bytes(encoded.tobytes())


def _the_board(options: argparse.Namespace) -> CalibrationBoard:
    return CalibrationBoard(options.columns, options.rows, options.square * 1e-3, options.marker * 1e-3)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kc-vla calibrate", description="Calibration, from recorded material or live."
    )
    kinds = parser.add_subparsers(dest="what", required=True)
    board = kinds.add_parser("board", help="a ChArUco board to print")
    board.add_argument("--output", type=Path, default=Path("board.pdf"), help="PDF file (board.pdf)")
    board.set_defaults(run=_board)
    camera = kinds.add_parser("camera", help="the lens of a camera")
    camera.add_argument("--source", required=True, help="device, video or folder of images with the board")
    camera.add_argument("--views", type=int, default=40, help="most views of the board (40); Ctrl-C ends with fewer")
    camera.add_argument("--width", type=int, default=0, help="px, as the camera is to be used (its own)")
    camera.add_argument("--height", type=int, default=0, help="px, likewise")
    camera.add_argument("--format", default="", help="pixel format of a device, such as MJPG (its default)")
    camera.add_argument("--name", required=True, help="name of the camera")
    camera.set_defaults(run=_camera)
    hand_eye = kinds.add_parser("hand-eye", help="find the pose of a camera relative to the arm")
    joints = kinds.add_parser("joints", help="offsets of the joints")
    for kind, run in ((hand_eye, _hand_eye), (joints, _joints)):
        kind.add_argument("--camera", type=Path, required=True, help="calibration of its lens")
        kind.add_argument(
            "--setup", choices=("in-hand", "to-hand"), required=True, help="camera on the flange, or beside"
        )
        add_robot(kind, "piper", "which arm: a name of robots/, or its YAML file (piper)")
        kind.add_argument(
            "--firmware", default="", help="firmware of an arm with an older zero pose, e.g. S-V1.5-2 (the newest)"
        )
        kind.set_defaults(run=run)
    latency = kinds.add_parser("latency", help="how late a camera is against the joints")
    latency.set_defaults(run=_latency)
    for kind in (hand_eye, joints, latency):
        kind.add_argument("--bag", type=Path, required=True, help="recorded episode")
        kind.add_argument("--view", required=True, help="the camera: a view of the recorded robot")
    for kind in (camera, hand_eye, joints, latency):
        kind.add_argument("--output", type=Path, required=True, help="YAML file to write")
        kind.add_argument("--serial", default="", help="serial number of the camera or the arm")
    for kind in (board, camera, hand_eye, joints):
        kind.add_argument("--columns", type=int, default=9, help="squares of the board (9)")
        kind.add_argument("--rows", type=int, default=6, help="squares of the board (6)")
        kind.add_argument("--square", type=float, default=30.0, help="side of a square, mm, as measured (30)")
        kind.add_argument("--marker", type=float, default=22.0, help="side of a marker, mm (22)")
    return parser
