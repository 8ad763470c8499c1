"""How a recorded episode is replayed to the live graph: which topics are played, who answers for the policy.

A program of its own, for launch files: it prints the plan as JSON, or says in a line why there is none.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath

from kc_vla.bags.errors import BagError, BagReadError
from kc_vla.bags.find import bags_below
from kc_vla.bags.lock import require_finished
from kc_vla.core.chunk import TOOL_DELTA_NAMES
from kc_vla.core.errors import StackError
from kc_vla.core.options import options_in
from kc_vla.core.robot import load_robot
from kc_vla.core.topics import DETECTIONS, TF_STATIC, camera_info_topic, depth_topic, image_topic
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.recording import require_one
from kc_vla.perception.detectors import DETECTORS, NO_DETECTOR, open_listener
from kc_vla.policy.takeover import PEOPLE
from kc_vla.reports.run_table import OutputFolderError, require_writable

FELT = ("/joint_states", "/tool_pose")
"""What an observation needs beside images."""
AUTO = "auto"
_PACKED = "/compressed"
"""End of a topic of compressed images; the player publishes them as raw ones."""
SCORES = "/keyframes/score"
_WITHOUT = {False: "places of objects are found without depth", True: "no object is detected"}
"""What follows where the topics of a detector are missing, by whether it passes on what it hears."""
_ORACLE = "oracle"


@dataclass(frozen=True)
class ReplayPlan:
    """How a bag is replayed.

    Attributes:
        episode_id: of the episode in it.
        topics: of the bag, what the player publishes.
        policy: backend of the policy server, "none" for no policy server.
        moved_by: backend that moved the arm in the recording, whose tempo a selector is to know; empty: none did.
        robot: robot that was recorded, as a person named it or as it must have been.
        params: name of the file with the parameters of the launch that recorded it.
        notes: one line for each thing that is not as it should be.
    """

    episode_id: str
    topics: tuple[str, ...]
    policy: str
    moved_by: str
    robot: str
    params: str
    notes: tuple[str, ...]


def plan_replay(
    episode: RecordedEpisode,
    selector: str,
    policy: str,
    robot: str = AUTO,
    detector: str = NO_DETECTOR,
    detector_options: str = "",
) -> ReplayPlan:
    """Plan the replay of an episode.

    Args:
        episode: read from its bag.
        selector: name of the keyframe selector; "oracle" takes the scores of the oracle from the bag.
        policy: "replay", "scripted", "none", or "auto" for what the bag can be compared with.
        robot: name or file of the robot that was recorded; "auto": the simulated one or the Piper.
        detector: what finds objects in the replayed images; "none": the recorded detections are played.
        detector_options: of the detector, as YAML.

    Raises:
        BagReadError: the bag lacks what this needs.
        StackError: there is no such robot, or the detector cannot have these options.
    """
    if robot == AUTO:
        robot = "panda_sim" if episode.status.simulated else "piper"
    views = load_robot(robot).views
    images, *others = (f"/{image_topic(view)}" for view in views)
    observed = (*others, *FELT)
    perceived = _perceived(views, detector, detector_options)
    also = (*(f"/{camera_info_topic(view)}" for view in views), *perceived, TF_STATIC)
    known = {topic.removesuffix(_PACKED): topic for topic in sorted(episode.message_counts, reverse=True)}
    if views[0] != episode.views[0]:
        raise BagReadError(
            f"{episode.bag} is of a robot with the views {', '.join(episode.views)}, the robot '{robot}' has "
            f"{', '.join(views)}: name the robot that was recorded with robot:="
        )
    if images not in known or not episode.frames:
        raise BagReadError(f"{episode.bag} holds no images of the episode on {images}: there is nothing to replay")
    require_one(episode.bag, episode.episode_ids, "replay")
    sources = {score.source for score in episode.scores.values()}
    if selector == _ORACLE and sources != {_ORACLE}:
        told = ", ".join(sorted(sources)) or "none"
        raise BagReadError(f"selector:=oracle needs the scores of an oracle, those of {episode.bag} are: {told}")
    notes = list(episode.damages)
    if episode.result is None:
        notes.append("the bag ends before the result of the episode")
    if missing := [topic for topic in observed if topic not in known]:
        notes.append(f"the bag has no {', '.join(missing)}: no observation is whole, so no chunk can be answered")
    if detector != NO_DETECTOR and not any(topic in known for topic in perceived):
        notes.append(f"the bag has no {' or '.join(perceived)}: {_WITHOUT[DETECTORS.get(detector).passes_on]}")
    chosen, remark = (policy, "") if policy != "auto" else _policy_of(episode)
    return ReplayPlan(
        episode_id=episode.status.episode_id,
        topics=tuple(known[topic] for topic in (images, *observed, *also) if topic in known)
        + ((SCORES,) if selector == _ORACLE else ()),
        policy=chosen,
        moved_by=next(iter(_backends(episode)), ""),
        robot=robot,
        params="maniskill.yaml" if episode.status.simulated else "piper.yaml",
        notes=(*notes, *([remark] if remark else [])),
    )


def _perceived(views: Sequence[str], detector: str, options: str) -> tuple[str, ...]:
    """Return the topics that a detector needs beside the images; without a detector, that of recorded detections."""
    if detector == NO_DETECTOR:
        return (f"/{DETECTIONS}",)
    row = DETECTORS.get(detector)
    heard = open_listener(detector, options_in(options, "detector_options:=")).topics if row.listens else ()
    depths = () if row.passes_on else tuple(f"/{depth_topic(view)}" for view in views)
    return (*depths, *(f"/{each.strip('/')}" for each in heard))


def _policy_of(episode: RecordedEpisode) -> tuple[str, str]:
    """Return who can be asked again for the chunks of the bag, and why nobody can."""
    backends = _backends(episode)
    if not backends:
        return "none", "the bag holds no chunks: the policy is not asked"
    if all(chunk.names == TOOL_DELTA_NAMES for chunk in episode.chunks):
        return "replay", ""
    if backends == ["scripted"]:
        return "scripted", ""
    told = ", ".join(sorted(backends))
    return "none", f"the chunks of the bag came from {told}, which cannot be asked again: chunks are not compared"


def _backends(episode: RecordedEpisode) -> list[str]:
    """Return the backends of the chunks, the one with the most chunks first, and people after all others.

    A person is asked far more often than a policy.
    """
    counted = Counter(chunk.backend for chunk in episode.chunks)
    return sorted(counted, key=lambda name: (name in PEOPLE, -counted[name]))


def new_folder(output: Path, episode_id: str) -> Path:
    """Make and return a new folder for a replay of an episode: nothing of an earlier one is touched.

    Raises:
        OutputFolderError: it cannot be made.
        BagReadError: the episode's id cannot name a folder.
    """
    if not episode_id or PurePath(episode_id).name != episode_id or episode_id == "..":
        raise BagReadError(f"episode id '{episode_id}' cannot name a folder")
    require_writable(output)
    number = 1
    while True:
        folder = output / (f"{episode_id}-replay" if number == 1 else f"{episode_id}-replay-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        except OSError as error:
            raise OutputFolderError(
                f"cannot make '{folder}': {error.strerror}; choose another output folder"
            ) from error
        else:
            return folder


def _the_bag_in(path: Path) -> Path:
    """Return the only bag of an episode's folder; otherwise the path itself, of which the reader says what is wrong."""
    below = bags_below(path)
    return below[0] if len(below) == 1 else path


def main(argv: Sequence[str] | None = None) -> int:
    """Print the plan of a replay and the folder made for it, as JSON; return 1 after a line that says why not."""
    parser = argparse.ArgumentParser(prog="replay_plan", description=__doc__)
    parser.add_argument("bag", help="bag folder or file of one episode")
    parser.add_argument("--selector", "--source", default="learned")
    parser.add_argument("--policy", default="auto")
    parser.add_argument("--robot", default=AUTO)
    parser.add_argument("--detector", default=NO_DETECTOR)
    parser.add_argument("--detector_options", default="")
    parser.add_argument("--output", default="runs", help="folder in which that of the replay is made")
    arguments = parser.parse_args(argv)
    bag = Path(arguments.bag).expanduser()
    try:
        if not arguments.bag:
            raise BagReadError("no bag was given: replay.launch.py bag:=<folder of a recorded episode>/bag")
        bag = _the_bag_in(bag)
        require_finished(bag)
        plan = plan_replay(
            RecordedEpisode(bag),
            arguments.selector,
            arguments.policy,
            arguments.robot,
            arguments.detector,
            arguments.detector_options,
        )
        folder = new_folder(Path(arguments.output).expanduser().resolve(), plan.episode_id)
    except (BagError, OutputFolderError, StackError) as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps({**asdict(plan), "bag": str(bag.resolve()), "folder": str(folder)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
