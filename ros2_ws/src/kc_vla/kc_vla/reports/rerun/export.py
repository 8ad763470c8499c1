"""Writes a recorded episode as a file that Rerun's viewer opens (.rrd), by the optional package rerun-sdk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np

from kc_vla.bags.errors import BagReadError, ReportError
from kc_vla.bags.lock import require_finished
from kc_vla.core.files import replacing
from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Robot, robot_of
from kc_vla.core.topics import JOINT_STATES
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.transforms import RecordedTransforms
from kc_vla.keyframes.smoothing import Decision
from kc_vla.reports.rerun.rows import EpisodeClock, TimedColumns, columns, tool_poses
from kc_vla.reports.tool_path import lens_of

VERSION = "0.41.0"
"""Version of the package that this is written for; viewers of that version or newer read its files."""
_QUALITY = 85
_TRAIL, _CHUNK = (95, 211, 138), (90, 169, 255)


def export_rerun(bag: Path, path: Path) -> list[str]:
    """Write the episode of `bag` to `path` (.rrd), in place of what was there; return lines for a person.

    Raises:
        ReportError: the package is not installed, or the file cannot be written.
        BagReadError: the bag cannot be read, is being recorded, or holds no episode.
    """
    rerun = _package()
    require_finished(bag)
    episode = RecordedEpisode(bag)
    try:
        with replacing(path) as part:
            stream = rerun.RecordingStream("kc_vla", recording_id=episode.status.episode_id)
            stream.save(part, default_blueprint=_blueprint(rerun, episode))
            try:
                _Writer(rerun, stream, episode).write()
            finally:
                stream.disconnect()
    except OSError as error:
        if not error.strerror:
            raise
        raise ReportError(f"cannot write {path}: {error.strerror}; name another file with -o") from error
    told = [f"note: {damage}" for damage in episode.damages]
    return [*told, f"{path}: {len(episode.frames)} frames, {path.stat().st_size / 1e6:.1f} MB; rerun {path} shows it"]


def _package() -> Any:
    try:
        import rerun
    except ImportError as error:
        raise ReportError(f"the package rerun-sdk is not installed: pip install rerun-sdk=={VERSION}") from error
    return rerun


class _Writer:
    """Logs one episode into a stream."""

    def __init__(self, rerun: Any, stream: Any, episode: RecordedEpisode) -> None:
        self._rerun, self._stream, self._episode = rerun, stream, episode
        self._clock = EpisodeClock(episode)

    def write(self) -> None:
        """Log all that there is."""
        self._stream.log("/", self._rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        self._texts()
        for each in columns(self._episode):
            self._scalars(each)
        self._pictures()
        self._places()
        self._tool()

    def _at(self, stamp_ns: int, frame: int) -> None:
        self._stream.set_time("stamp", timestamp=np.datetime64(stamp_ns, "ns"))
        self._stream.set_time("frame", sequence=frame)

    def _index(self, stamps: Any, frames: Any) -> list[Any]:
        column = self._rerun.TimeColumn
        return [column("stamp", timestamp=stamps.astype("datetime64[ns]")), column("frame", sequence=frames)]

    def _texts(self) -> None:
        """Write the episode and its instruction, the life of its keyframes, holds of the arm, and how it ended."""
        status, result = self._episode.status, self._episode.result
        log = self._rerun.TextLog
        self._at(status.start_ns, 0)
        self._stream.log("log/episode", log(f"{status.title}: {status.episode_id}", level="INFO"))
        self._stream.log("log/instruction", log(status.instruction, level="INFO"))
        self._stream.log("instruction", self._rerun.TextDocument(status.instruction), static=True)
        for event in self._episode.events:
            if event.type == Decision.RESET:
                continue
            self._at(self._clock.stamp_ns(event.decided_at_frame), event.decided_at_frame)
            word = event.type.name.lower()
            said = f"keyframe {event.phase} '{event.label}' {word}: frame {event.frame}, score {event.score:.2f}"
            self._stream.log("log/keyframes", log(said, level="INFO"))
        holding = ""
        for command in self._episode.commands:
            if command.reason and command.reason != holding:
                self._at(command.stamp_ns, command.step)
                self._stream.log("log/holds", log(command.reason, level="WARN"))
            holding = command.reason
        if result is not None:
            self._at(result.end_ns, result.steps)
            level = "INFO" if result.success or not result.judged else "ERROR"
            self._stream.log("log/episode", log(f"ended: {result.reason}", level=level))

    def _scalars(self, each: TimedColumns) -> None:
        lines = self._rerun.SeriesLines(names=list(each.names))
        self._stream.log(each.path, lines, static=True)
        values = self._rerun.Scalars.columns(scalars=each.values)
        if len(each.names) > 1:
            values = values.partition(np.full(len(each.stamps), len(each.names)))
        self._stream.send_columns(each.path, self._index(each.stamps, each.frames), values)

    def _pictures(self) -> None:
        for view in self._episode.views:
            for stamp, ref in self._episode.pictures(view):
                self._at(stamp, self._clock.frame(stamp))
                self._stream.log(f"views/{view}", self._jpeg(self._episode.image(ref)))
        kept = {each.frame: each for each in self._episode.keyframes if each.committed}
        for frame in self._episode.frames:
            if frame.index in kept:
                state = kept[frame.index]
                self._at(self._clock.stamp_ns(state.decided_at_frame), state.decided_at_frame)
                for view, ref in frame.pictures.items():
                    self._stream.log(f"keyframes/{view}", self._jpeg(self._episode.image(ref)))

    def _jpeg(self, picture: Any) -> Any:
        quality = [cv2.IMWRITE_JPEG_QUALITY, _QUALITY]
        done, jpeg = cv2.imencode(".jpg", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), quality)
        if not done:
            raise BagReadError(f"an image of {self._episode.bag} cannot be encoded as JPEG")
        return self._rerun.EncodedImage(contents=jpeg.tobytes(), media_type="image/jpeg")

    def _places(self) -> None:
        """Write the places of all frames of /tf and /tf_static, and the cameras with their lenses.

        They are in the frame on which all hang.
        """
        transforms = RecordedTransforms(self._episode.recording)
        lenses = {view: lens for view in self._episode.views if (lens := lens_of(self._episode, view)) is not None}
        if (root := transforms.root) is None:
            return
        for view, lens in lenses.items():
            self._stream.log(f"views/{view}", self._rerun.Pinhole(image_from_camera=lens.matrix), static=True)
        shown = {f"frames/{name}": name for name in transforms.frames}
        shown |= {f"views/{view}": lens.frame for view, lens in lenses.items()}
        for path, name in shown.items():
            places = ((frame, transforms.pose(name, root, frame.stamp_ns)) for frame in self._episode.frames)
            known = [(frame.index, frame.stamp_ns, pose) for frame, pose in places if pose is not None]
            if known:
                frames, stamps, poses = (np.array(column) for column in zip(*known, strict=True))
                self._stream.send_columns(path, self._index(stamps, frames), self._transforms(poses))
        if (robot := self._robot()) is not None and (base := transforms.pose(robot.base_frame, root, 0)) is not None:
            self._stream.log("tool", self._transform(base), static=True)

    def _tool(self) -> None:
        """Write the path of the tool up to each frame, in the frame of the robot's base."""
        told = tool_poses(self._episode)
        if not told:
            return
        line = self._rerun.LineStrips3D
        way = np.array([pose[:3, 3] for _, pose in told])
        self._stream.log("tool/way", line([way], colors=[_TRAIL], radii=0.001), static=True)
        for (stamp, _), place in zip(told, way, strict=True):
            self._at(stamp, self._clock.frame(stamp))
            self._stream.log("tool/now", self._rerun.Points3D([place], colors=[_CHUNK], radii=0.01))

    def _robot(self) -> Robot | None:
        _, felt = next(self._episode.recording.messages(JOINT_STATES), ("", None))
        return robot_of(list(felt.name)) if felt is not None else None

    def _transforms(self, poses: Any) -> Any:
        return self._rerun.Transform3D.columns(translation=poses[:, :3, 3], mat3x3=[pose[:3, :3] for pose in poses])

    def _transform(self, pose: Pose) -> Any:
        return self._rerun.Transform3D(translation=pose[:3, 3], mat3x3=pose[:3, :3])


def _blueprint(rerun: Any, episode: RecordedEpisode) -> Any:
    """Return what is shown first: the views and the space above, curves and the log below."""
    from rerun import blueprint

    cameras = [blueprint.Spatial2DView(origin=f"views/{view}", name=view) for view in episode.views]
    space = blueprint.Spatial3DView(origin="/", contents=["/tool/**", "/frames/**", "/views/**"], name="space")
    curves = [
        blueprint.TimeSeriesView(origin=name, name=name) for name in ("selector", "actions", "joints/position", "tool")
    ]
    log = blueprint.TextLogView(origin="log", name="log")
    above = blueprint.Horizontal(*cameras, space)
    below = blueprint.Horizontal(blueprint.Tabs(*curves), log, column_shares=[3, 2])
    time = blueprint.TimePanel(timeline="stamp", state="collapsed")
    return blueprint.Blueprint(blueprint.Vertical(above, below), time, collapse_panels=True)
