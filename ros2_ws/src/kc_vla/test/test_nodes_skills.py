"""The skill server by itself: an arm without physics follows it, and what goes wrong ends a skill in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import yaml
from node_process import running
from std_msgs.msg import Bool, String
from workplace import Workplace

from kc_vla.core import topics
from kc_vla.core.share import share
from kc_vla.planning.interface import CallResult
from kc_vla.planning.obstacles import Clearing, Obstacle
from kc_vla.ros import qos
from kc_vla.ros.base import CANNOT_START
from kc_vla.ros.skill_messages import result_message
from kc_vla.ros.skills import happened_from
from kc_vla.skills.skill_run import SkillOutcome
from kc_vla_msgs.srv import PredictChunk

MODULE = "kc_vla.nodes.skill_server"
_GRIP = "PickupObject"


@contextmanager
def working(tmp_path: Path, **parameters: object) -> Iterator[Workplace]:
    with Workplace() as place, running(MODULE, tmp_path / "log", **parameters):
        place.begin()
        yield place


@pytest.mark.parametrize("obstacle", [None, Obstacle("can_1", Clearing.MOVE), Obstacle("drawer_1", Clearing.CLOSE)])
def test_a_planner_is_told_what_was_in_the_way_of_a_skill(obstacle: Obstacle | None) -> None:
    outcome = SkillOutcome(False, "something is in the way", obstacle=obstacle)
    result = result_message(outcome, 2.0, [], "")
    assert happened_from(result) == CallResult(False, "something is in the way", 2.0, 0.0, (), "", obstacle)
    result.clearing = "paint"  # of a robot that knows more ways
    assert happened_from(result).obstacle is None


def test_skills_are_done_and_what_goes_wrong_is_said_in_a_line(tmp_path: Path) -> None:
    with working(tmp_path, silence=1.0) as place:
        around = place.look()
        assert {each.detection.object_id for each in around.seen} == {"worktop", "drawer_1", "apple_1", "cabinet_1"}
        assert around.at == around.areas[0].id

        taken = place.do("PickupObject", "apple_1")
        assert (taken.done, taken.reason) == (True, "")
        assert (taken.held, taken.held_known) == ("apple_1", True)
        assert next(each for each in taken.seen if each.detection.object_id == "apple_1").relation == "held"

        # an emergency stop in the middle: it holds, and what is in the hand stays known
        result = place.start("OpenObject", "drawer_1").get_result_async()
        place.until(lambda: place.work() or np.abs(place.kitchen.joints - place.kitchen.sent[0]).max() > 0.05)
        place.stopped.publish(Bool(data=True))
        place.until(lambda: place.work() or result.done())
        assert result.result().result.reason == "the emergency stop was set: the arm holds"
        refused = place.do("PutObject", "apple_1", "worktop")
        assert refused.reason == "the emergency stop is set: release it first"
        assert next(each for each in refused.seen if each.detection.object_id == "apple_1").relation == "held"
        place.stopped.publish(Bool(data=False))

        # an arm controller that asks for nothing
        place.sends = False
        silent = place.do("PutObject", "apple_1", "worktop")
        place.sends = True
        assert silent.reason == "arm_controller has not asked for set-points for 1 s: is it alive?"

        # a planner that stops it
        goal = place.start("PutObject", "apple_1", "worktop")
        result = goal.get_result_async()
        goal.cancel_goal_async()
        place.until(lambda: place.work() or result.done())
        assert result.result().result.reason == "it was stopped"
        put = place.do("PutObject", "apple_1", "worktop")
        assert (put.done, put.held, put.held_known) == (True, "", True)


def test_a_skill_that_the_policy_server_refuses_ends_with_its_reason(tmp_path: Path) -> None:
    robot = yaml.safe_load((share("robots") / "panda_sim.yaml").read_text())
    file = tmp_path / "by_policy.yaml"
    file.write_text(yaml.safe_dump(robot | {"urdf": str(share("robots") / robot["urdf"]), "skills": {_GRIP: "policy"}}))
    heard: list[str] = []
    told = "the policy 'policy' does not know what to do for 'pick up the apple'"

    def refuse(request: PredictChunk.Request, response: PredictChunk.Response) -> PredictChunk.Response:
        response.message = told
        return response

    with working(tmp_path, robot=str(file), wait_timeout=0.5) as place:
        place.node.create_service(PredictChunk, topics.SKILL_POLICY, refuse)
        place.node.create_subscription(
            String, topics.SKILL_INSTRUCTION, lambda message: heard.append(message.data), qos.STATUS
        )
        refused = place.do(_GRIP, "apple_1")
        assert (refused.done, refused.reason) == (False, told)
        assert "pick up the apple" in heard
        assert place.do("OpenObject", "drawer_1").done  # the motion of another skill is still there


@pytest.mark.nightly
def test_a_moved_thing_a_blind_detector_and_a_planner_that_is_gone_end_a_skill(tmp_path: Path) -> None:
    with working(tmp_path) as place:
        place.sees = False
        blind = place.do("OpenObject", "drawer_1")
        assert blind.reason.startswith("perception has reported nothing for 4 s")
        place.sees = True

        before = dict(place.kitchen.things)
        result = place.start("PickupObject", "apple_1").get_result_async()
        place.until(lambda: place.work() or place.kitchen.width > 0.07)
        del place.kitchen.things["apple_1"]
        place.until(lambda: place.work() or result.done())
        assert result.result().result.reason == "there is nothing between the fingers where apple_1 was seen"
        place.kitchen.things = before

        place.start("OpenObject", "drawer_1")
        place.planner.destroy()
        log = tmp_path / "log"
        place.until(lambda: place.work() or "the client that asked for it is gone" in log.read_text())
        for _ in range(20):
            place.until(lambda: place.work() or True)
        still = place.kitchen.joints.copy()
        for _ in range(20):
            place.until(lambda: place.work() or True)
        assert np.abs(place.kitchen.joints - still).max() < 0.05


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"real": True}, "a real arm is not moved by skills without a calibrated camera"),
        ({"hand_eye": "/no/such/file.yaml"}, "/no/such/file.yaml"),
    ],
)
def test_a_real_arm_needs_a_calibrated_camera(tmp_path: Path, parameters: dict[str, object], words: str) -> None:
    with running(MODULE, tmp_path / "log", **parameters) as process:
        assert process.wait(60) == CANNOT_START
    assert words in (tmp_path / "log").read_text()
