"""Node `maniskill_bridge`: the simulator as a robot with its cameras.

Lock-step: after each frame the simulator waits until the arm has commanded for that frame and the keyframe buffer
has taken it in, and shows the frame again while it waits; the result does not depend on the speed of the machine.
Real time: the simulator steps on, with the command that is there, and holds without one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime

from diagnostic_msgs.msg import DiagnosticArray
from std_srvs.srv import Trigger

from kc_vla.core import topics
from kc_vla.core.options import OptionError, options_in
from kc_vla.core.tasks import UnknownTaskError, find_task
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.convert import floats_array, time_message
from kc_vla.ros.health import CANNOT_ACT, CANNOT_SELECT, within
from kc_vla.ros.parameters import parameter, without_defaults
from kc_vla.ros.process import run_node
from kc_vla.ros.robot import RobotParameters
from kc_vla_msgs.msg import ArmCommand, EpisodeResult, EpisodeStatus, KeyframeIndex
from kc_vla_msgs.srv import ExpertChunk, ResetSimulation
from kc_vla_sim.choices import ASSETS, LOOKS, STANDARD, STANDARD_ASSETS, STANDARD_LOOKS, VARIANTS
from kc_vla_sim.errors import BadActionError, BadSeedError, SimulationError, UnplayedTaskError
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.nodes.frame_publisher import FramePublisher, has_images
from kc_vla_sim.nodes.messages import result_of
from kc_vla_sim.plans import PlanRefusal, RecentPlans
from kc_vla_sim.protocol import DrawsOnDemand, check_seed
from kc_vla_sim.scorer_inputs import PERIOD_NS
from kc_vla_sim.simulators import SIMULATORS, SimulatorContext, open_simulator

ENDED = "a client ended it"
"""Why an episode is over that a client ended."""
EPISODE_GAP_NS = 1_000_000_000
"""ROS time between two episodes: the clock never goes back."""


@dataclass(frozen=True)
class BridgeParameters(RobotParameters):
    """Parameters of the node."""

    simulator: str = parameter("maniskill", f"simulator: {', '.join(SIMULATORS.names())}", check=SIMULATORS.get)
    mode: str = parameter(
        "lockstep", "lockstep: a step waits for the stack; realtime: it does not", choices=("lockstep", "realtime")
    )
    image_size: int = parameter(256, "pixels, width and height of every camera", low=16, high=2048)
    renderer: str = parameter("auto", "renderer", choices=("auto", "gpu", "cpu"))
    variant: str = parameter(STANDARD, "variant of every task", choices=tuple(VARIANTS))
    visual_randomization: str = parameter(
        STANDARD_LOOKS, "visual randomization of the rooms", choices=tuple(LOOKS), former="looks"
    )
    assets: str = parameter(STANDARD_ASSETS, "assets of a kitchen", choices=tuple(ASSETS))
    depth: bool = parameter(False, "publish the depth of every camera, 32FC1, m, where the simulator has it")
    boxes: bool = parameter(False, "publish the boxes of the objects that each view shows, as a detector does")
    script: bool = parameter(True, "whether a task such as the kitchen follows its script; false: only the robot acts")
    instruction: str = parameter("", "instruction of an episode without a script; empty: that of its task")
    options: str = parameter(
        "",
        "options of the simulator that have no parameter here, such as those of another package, e.g. '{length: 50}'",
    )
    expert_horizon: int = parameter(32, "most actions that the expert plans ahead", low=1, high=512)
    resend_after: float = parameter(0.5, "s after which a waiting frame is published again", low=0.05, high=10.0)
    warn_after: float = parameter(
        5.0, "s of waiting after which a log line names the missing nodes", low=0.5, high=600.0
    )
    give_up_after: float = parameter(60.0, "s of waiting after which the episode ends", low=1.0, high=3600.0)


class ManiskillBridgeNode(StackNode):
    """The node `maniskill_bridge`, which plays a robot with its cameras in a simulator."""

    Parameters = BridgeParameters
    parameters: BridgeParameters

    def __init__(self) -> None:
        super().__init__("maniskill_bridge")

    def start(self) -> None:
        """Check the renderer and open the services; the environment is made at the first reset."""
        values = self.parameters
        robot = values.loaded_robot()
        try:
            given = options_in(values.options, "parameter 'options'")
            context = SimulatorContext(robot, values.image_size)
            self._simulator = open_simulator(values.simulator, context, given, without_defaults(values))
        except (SimulationError, OptionError) as error:
            raise StartError(str(error)) from error
        self._lockstep = values.mode == "lockstep"
        self._status: EpisodeStatus | None = None
        self._frame: SimulatedFrame | None = None
        self._command: ArmCommand | None = None
        self._settled = -1
        self._clock_ns = 0
        self._shown_at = self._waiting_since = 0.0
        self._held = 0
        self._answered = ("", ResetSimulation.Response())
        self._plans = RecentPlans(values.expert_horizon)
        self._statuses = self.advertise(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._results = self.advertise(EpisodeResult, topics.EPISODE_RESULT, qos.STATUS)
        self._publisher = FramePublisher(self, self._simulator, robot.views, values.depth, values.boxes)
        self.subscribe(ArmCommand, topics.ARM_COMMAND, self._on_command, qos.command(0.05))
        self.subscribe(KeyframeIndex, topics.KEYFRAME_INDEX, self._on_index, qos.STATUS)
        self.subscribe(DiagnosticArray, topics.DIAGNOSTICS, self._on_diagnostics, qos.EVENT)
        self.serve(ResetSimulation, topics.RESET_SIMULATION, self._reset)
        self.serve(ExpertChunk, topics.EXPERT_CHUNK, self._expert)
        self.serve(Trigger, topics.END_EPISODE, self._end_by_service)
        self.every(min(values.resend_after, 0.1), self._watch)
        if not self._lockstep:
            self.every(PERIOD_NS / 1e9, self._step_realtime)

    def stop(self) -> None:
        """Release the environment."""
        self._simulator.close()

    def details(self) -> dict[str, object]:
        """Return what the simulator does."""
        asked: dict[str, object] = {"mode": self.parameters.mode, "looks": self.parameters.visual_randomization}
        frame = getattr(self, "_frame", None)
        return asked if frame is None else {**asked, "frame": frame.index, "held_steps": self._held}

    def _reset(self, request: ResetSimulation.Request, response: ResetSimulation.Response) -> ResetSimulation.Response:
        """Begin an episode; a request that is sent again, since its answer was lost, does not begin another."""
        if not request.request_id or request.request_id != self._answered[0]:
            self._answered = (request.request_id, self._begin(request, response))
        return self._answered[1]

    def _begin(self, request: ResetSimulation.Request, response: ResetSimulation.Response) -> ResetSimulation.Response:
        try:
            find_task(request.task)
            check_seed(request.seed)
        except (UnknownTaskError, BadSeedError) as error:
            response.message = str(error)
            return response
        if self._status is not None:
            self._finish("reset before the end")
        began = time.perf_counter()
        try:
            frame = self._simulator.reset(request.task, request.seed)
        except UnplayedTaskError as error:  # a refusal, and no fault of the simulator
            response.message = str(error)
            return response
        except SimulationError as error:
            self.problem(str(error), ERROR)
            response.message = str(error)
            return response
        self.statistics.clear()
        self.statistics.add("reset", time.perf_counter() - began)
        assert self._simulator.task is not None
        self._clock_ns += EPISODE_GAP_NS
        self._status = EpisodeStatus(
            episode_id=f"{request.task}-{request.seed:06d}-{datetime.now():%Y%m%dT%H%M%S%f}"[:-3],
            task=request.task,
            variant=self.parameters.variant,
            instruction=self.parameters.instruction or self._simulator.task.instruction,
            seed=request.seed,
            start_time=time_message(self._clock_ns),
            frame_period=PERIOD_NS / 1e9,
            state=EpisodeStatus.RUNNING,
        )
        self._status.header.stamp = self._status.start_time
        self._start_ns, self._command, self._settled, self._held = self._clock_ns, None, -1, 0
        self._plans.begin(self._status.episode_id)
        self._publisher.begin(self._clock_ns)
        self._statuses.publish(self._status)
        self._take(frame)
        response.success = True
        response.episode_id = self._status.episode_id
        response.instruction = self._status.instruction
        return response

    def _end_by_service(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._status is not None, "no episode is running"
        if self._status is not None:
            self._finish(ENDED)
            response.message = "ended"
        return response

    def _finish(self, reason: str) -> None:
        """Publish the result of the episode and hold."""
        assert self._status is not None
        assert self._frame is not None
        result = result_of(self._frame, self._status, self._simulator, reason, judged=self.parameters.script)
        result.duration = self._frame.index * PERIOD_NS / 1e9
        result.header.stamp = self._status.header.stamp = time_message(self._clock_ns)
        self._status.state = EpisodeStatus.FINISHED
        self.publish_diagnostics()
        self._results.publish(result)
        self._statuses.publish(self._status)
        self._status = None

    def _on_command(self, command: ArmCommand) -> None:
        if self._status is None or command.episode_id != self._status.episode_id:
            return
        self._command = command
        self._step_if_ready()

    def _on_index(self, index: KeyframeIndex) -> None:
        if self._status is None or index.episode_id != self._status.episode_id:
            return
        self._settled = max(self._settled, index.newest_frame)
        self._step_if_ready()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        """End an episode that nobody can remember, or act in: the stack would wait in vain."""
        for status in within(self, message).status:
            told = {pair.key: pair.value for pair in status.values}
            refused = (told.get(CANNOT_SELECT), told.get(CANNOT_ACT))
            if self._status is not None and self._status.episode_id in refused:
                self._finish(status.message)

    def _step_if_ready(self) -> None:
        if self._status is None or self._frame is None or self._settled < self._frame.index:
            return
        if self._frame.done:
            self._finish(self._frame.reason)
        elif self._lockstep and self._command is not None and self._command.step == self._frame.index:
            self._step(self._command)

    def _step_realtime(self) -> None:
        if self._status is None or self._frame is None or self._frame.done or self._settled < 0:
            return  # the clock starts when the whole stack has seen frame 0
        command, self._command = self._command, None  # each command once: a tool delta twice is twice the way
        late = command is not None and abs(command.step - self._frame.index) > 1
        self._step(None if late else command)

    def _step(self, command: ArmCommand | None) -> None:
        began = time.perf_counter()
        if isinstance(self._simulator, DrawsOnDemand):
            self._simulator.draws = self._publisher.watched
        try:
            if command is None or command.mode == ArmCommand.HOLD:
                self._held += 1
                frame = self._simulator.hold()
            elif command.mode == ArmCommand.TOOL_DELTA:
                frame = self._simulator.step(command.values)
            else:
                frame = self._simulator.step_joints(self._joint_targets(command))
            self.problem("")
        except BadActionError as error:
            self.problem(f"a command is refused, the arm holds: {error}", ERROR)
            self._held += 1
            frame = self._simulator.hold()
        self.statistics.add("simulator_step", time.perf_counter() - began)
        self._take(frame)

    def _joint_targets(self, command: ArmCommand) -> list[float]:
        """Return the targets in the simulator's order of joints; joints that are not named stay where they are."""
        assert self._frame is not None
        targets = dict(zip(self._frame.joint_names, self._frame.joint_positions, strict=True))
        unknown = [name for name in command.names if name not in targets]
        if unknown or len(command.names) != len(command.values):
            raise BadActionError(
                f"{len(command.values)} values for the joints {', '.join(command.names) or 'none'}: "
                f"this arm has {', '.join(targets)}"
            )
        targets.update(zip(command.names, command.values, strict=True))
        return list(targets.values())

    def _take(self, frame: SimulatedFrame) -> None:
        """Go on to a new frame and show it."""
        self._frame = frame
        self._clock_ns = self._start_ns + frame.index * PERIOD_NS
        self._plans.make(frame.index, self._simulator.expert)
        self._waiting_since = time.monotonic()
        self._show()

    def _show(self) -> None:
        """Publish the frame, for the first time or again."""
        assert self._status is not None
        assert self._frame is not None
        self._shown_at = time.monotonic()
        if isinstance(self._simulator, DrawsOnDemand) and self._publisher.watched and not has_images(self._frame):
            self._frame = self._simulator.redrawn(self._frame)
        self._publisher.show(self._frame, self._status.episode_id, self._clock_ns)
        self.statistics.add("publish", time.monotonic() - self._shown_at)

    def _watch(self) -> None:
        """Publish a frame again that a node has not answered, log which node, and end the episode if it never does."""
        if self._status is None or self._frame is None:
            return
        if not self._lockstep and not self._frame.done and self._settled >= 0:
            return
        now = time.monotonic()
        if now - self._shown_at > self.parameters.resend_after:
            self.statistics.drop("frame shown again")
            self._show()
        waited = now - self._waiting_since
        missing = self._missing()
        if waited > self.parameters.give_up_after:
            self._finish(f"the stack stalled: {missing}")
        elif waited > self.parameters.warn_after:
            self.problem(f"the simulator waits: {missing}")

    def _missing(self) -> str:
        assert self._frame is not None
        if self._settled < self._frame.index:
            return f"no keyframe index of frame {self._frame.index}: are keyframe_selector and keyframe_buffer alive?"
        return f"no arm command for frame {self._frame.index}: see what arm_controller and policy_server say"

    def _expert(self, request: ExpertChunk.Request, response: ExpertChunk.Response) -> ExpertChunk.Response:
        if request.episode_id != self._plans.episode_id:  # one that has just ended is still answered
            response.message = f"episode '{request.episode_id}' is not running"
            return response
        try:
            actions, response.phase = self._plans.find(int(request.observation_frame), int(request.horizon))
        except PlanRefusal as error:
            response.message = str(error)
            return response
        response.actions = floats_array(actions)
        response.observation_frame = request.observation_frame
        response.success = True
        return response


def main() -> None:
    """Run the node."""
    run_node(ManiskillBridgeNode)
