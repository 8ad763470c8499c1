"""A model brings the tasks and the cameras that it has learnt; nothing else needs to know of them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chance_model import write_chance_model
from node_process import Peer, running
from robot_bags import write_panda_bag
from sensor_msgs.msg import Image

from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.annotate.proposals import propose
from kc_vla.core import topics
from kc_vla.core.episode import Episode
from kc_vla.core.tasks import TASKS, Task
from kc_vla.keyframes.image_crop import side_by_side
from kc_vla.keyframes.learned import LearnedScorer, LearnedSource, SelectorNetwork
from kc_vla.keyframes.model import SelectorModel, load_selector
from kc_vla.keyframes.scoring import ScorerInput
from kc_vla.ros import qos
from kc_vla.ros.convert import time_message
from kc_vla_msgs.msg import EpisodeStatus, KeyframeEvent, KeyframeScore

LABELS = tuple(f"turn {number}" for number in range(11))
STIR = Task("stir", "Stir the soup.", LABELS, wordings=("Turn the spoon in the pot.",))
PUSH = Task(
    "push", "Wait for the signal light to flash three times, then push the cube to the target.", ("start", "end")
)
PERIOD_NS, START_NS = 50_000_000, 10**9


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_chance_model(tmp_path_factory.mktemp("models") / "own", 0.5, [STIR, PUSH], ["third_person", "wrist"])


@pytest.fixture(scope="module")
def model(folder: Path) -> SelectorModel:
    return load_selector(folder, "keyframe_selector")


def asked(instruction: str) -> Episode:
    return Episode("e-1", "", instruction, START_NS, PERIOD_NS, True)


def test_instructions_are_those_that_the_model_has_learnt(model: SelectorModel) -> None:
    source = LearnedSource(SelectorNetwork(model, "cpu"))
    for text in (*STIR.instructions, "stir the soup please"):
        assert source.begin(asked(text)).labels == LABELS
    # Word for word it is what the model has learnt, however much it is like a task of the table.
    assert source.begin(asked(PUSH.instruction)).labels == PUSH.keyframes
    assert source.begin(asked("Wait for the flashes, then push the cube to the target.")).labels == PUSH.keyframes
    with pytest.raises(ValueError, match="was not trained on 'temporal': it knows push, stir"):
        source.begin(asked(TASKS["temporal"].instruction))


def test_all_its_cameras_and_phases_count(model: SelectorModel) -> None:
    network = SelectorNetwork(model, "cpu")
    assert LearnedSource(network).needs == ("third_person", "wrist")
    chance = np.random.default_rng(0)
    views = chance.integers(0, 255, (2, 40, 48, 3), np.uint8)
    features = network.features(side_by_side(views, 32)[None])
    wanted = network.scores(np.repeat(features, 3, axis=0)[None], "stir", 10)[0]
    sight = ScorerInput(0, {"third_person": views[0], "wrist": views[1]})
    assert LearnedScorer(network, "stir").score(sight, 10) == pytest.approx(wanted)
    other = replace(sight, views={**sight.views, "wrist": views[0]})
    assert LearnedScorer(network, "stir").score(other, 10) != pytest.approx(wanted, abs=1e-7)


def test_the_annotation_page_asks_it_about_both_cameras(model: SelectorModel, tmp_path: Path) -> None:
    episode = AnnotatedEpisode(
        write_panda_bag(tmp_path, "e", task="stir", instruction=STIR.instruction, annotated=False)
    )
    marks = propose(episode, LearnedSource(SelectorNetwork(model, "cpu")), "learned", {})
    assert (marks[0].frame, marks[0].label) == (0, "turn 0")


def image(number: int) -> Image:
    pixels = np.full((24, 24, 3), 20 * number, np.uint8)
    message = Image(height=24, width=24, encoding="rgb8", step=72, data=pixels.tobytes())
    message.header.stamp = time_message(START_NS + number * PERIOD_NS)
    return message


def test_the_live_selector_listens_to_the_cameras_of_its_model(folder: Path, tmp_path: Path) -> None:
    with (
        Peer() as peer,
        running(
            "kc_vla.nodes.keyframe_selector",
            tmp_path / "log",
            source="learned",
            models_folder=str(folder),
            device="cpu",
        ),
    ):
        scores = peer.hear(KeyframeScore, topics.KEYFRAME_SCORE, qos.EVENT)
        events = peer.hear(KeyframeEvent, topics.KEYFRAME_EVENT, qos.EVENT_LOG)
        status = peer.node.create_publisher(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        views = [
            peer.node.create_publisher(Image, topic, qos.IMAGE)
            for topic in (topics.image_topic("third_person"), topics.image_topic("wrist"))
        ]
        peer.until(lambda: all(view.get_subscription_count() for view in views))
        running_now = EpisodeStatus(
            episode_id="e-1", task="stir", instruction=STIR.instruction, frame_period=0.05, state=EpisodeStatus.RUNNING
        )
        running_now.start_time = time_message(START_NS)
        status.publish(running_now)

        def shown(numbers: Iterator[tuple[int, bool]], until: int) -> bool:
            for number, with_wrist in numbers:
                for view in views[: 1 + with_wrist]:
                    view.publish(image(number))
            return until in {score.frame_index for score in scores}

        peer.until(lambda: shown(iter([(0, True)]), 0))
        peer.until(lambda: shown(iter([(1, False), (2, True)]), 2))
    assert {score.frame_index for score in scores} == {0, 2}  # what the wrist camera did not see cannot be judged
    assert (events[0].frame_index, events[0].label) == (0, "turn 0")
