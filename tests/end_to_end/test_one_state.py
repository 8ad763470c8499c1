"""A frame has the same state whether it is collected, comes from the live graph, from a bag or from a data set."""

from pathlib import Path

import numpy as np
import pytest
from finished_run import FinishedRun

from kc_vla.bags.images import decode_image
from kc_vla.core.chunk import ActionType
from kc_vla.core.codec import Codec
from kc_vla.core.robot import load_robot
from kc_vla.core.stamps import nanoseconds
from kc_vla.datasets.exchange.export import export_bags
from kc_vla.datasets.exchange.origin import Origin
from kc_vla.datasets.exchange.rows import read_rows
from kc_vla.datasets.lerobot.layout import ACTION, STATE
from kc_vla.datasets.lerobot.reader import DataSet
from kc_vla.episodes.episode import recorded_actions
from kc_vla.episodes.recording import Recording
from kc_vla.keyframes.observation import observation_of
from kc_vla.keyframes.synchronizer import Synchronizer
from kc_vla_sim.collect.record import row_of
from kc_vla_sim.toy import ToySimulator


@pytest.mark.nightly
def test_a_frame_has_one_state(toy_run: FinishedRun, tmp_path: Path) -> None:
    codec = Codec(load_robot("panda_sim"), ActionType.TOOL_DELTA)
    episode = toy_run.episode
    read = read_rows(toy_run.bag).columns[STATE]

    recording = Recording(toy_run.bag)
    streams = {"third_person/image_raw": "third_person", "wrist/image_raw": "wrist"}
    streams |= {"joint_states": "joints", "tool_pose": "tool_pose"}
    together = Synchronizer("third_person", ("wrist", "joints", "tool_pose"), tolerance_ns=10_000_000)
    live = []
    for name, message in recording.messages(*streams):
        for moment in together.put(streams[name], nanoseconds(message.header.stamp), message):
            pictures = {view: decode_image(moment[view], view) for view in ("third_person", "wrist")}
            seen = observation_of(len(live), moment.stamp_ns, pictures, moment["joints"], moment["tool_pose"].pose)
            live.append(codec.state(seen.tool_pose, seen.joint_names, seen.joint_positions))
    np.testing.assert_array_equal(np.array(live)[: len(read)], read)

    export_bags([toy_run.bag], tmp_path / "set", origin=Origin.ORACLE)
    kept = DataSet(tmp_path / "set").columns(0)
    np.testing.assert_array_equal(kept[STATE.key], read.astype(np.float32))

    simulator = ToySimulator(64)
    frame = simulator.reset(episode.status.task, episode.status.seed)
    for number, action in enumerate(recorded_actions(episode)[: len(read) - 1]):
        row = row_of(frame, action)
        np.testing.assert_allclose(row[STATE.key], read[number], atol=1e-6)
        np.testing.assert_allclose(row[ACTION.key], kept[ACTION.key][number], atol=1e-6)
        frame = simulator.step(action)
