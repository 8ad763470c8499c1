"""Node `arm_controller`: executes action chunks, one command per control step, in a process of its own."""

from __future__ import annotations

import time
from pathlib import Path

from sensor_msgs.msg import JointState

from kc_vla.arm.inverse import UnreachableError
from kc_vla.arm.scheduling import PriorityError, lock_memory, take_priority
from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.arm.wiring import Wiring
from kc_vla.calibration.reading import load_offsets
from kc_vla.cameras.errors import CalibrationError
from kc_vla.core import topics
from kc_vla.core.chunk import BadChunkError, ChunkLimits
from kc_vla.core.episode import Episode
from kc_vla.core.rig import RigError, load_rig
from kc_vla.execution.controller import ArmController
from kc_vla.execution.scheduler import Action, ChunkScheduler, Hold, SchedulerSettings
from kc_vla.ros import qos
from kc_vla.ros.arm_link import ArmLink
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.chunk_client import ChunkClient
from kc_vla.ros.controller_parameters import ControllerParameters
from kc_vla.ros.convert import BadMessageError, check_stamp, chunk_from, floats_array, nanoseconds
from kc_vla.ros.emergency_stop import EmergencyStop
from kc_vla.ros.process import run_node
from kc_vla_msgs.msg import ArmCommand
from kc_vla_msgs.srv import PredictChunk

_BACK_STEPS = 2
"""A clock that is set right a little at a time may count a control step twice."""


class ArmControllerNode(StackNode):
    """See the module."""

    Parameters = ControllerParameters
    parameters: ControllerParameters

    def __init__(self) -> None:
        super().__init__("arm_controller")

    def start(self) -> None:
        """Begin to hold."""
        values = self.parameters
        self._lockstep = values.mode == "lockstep"
        scheduler = ChunkScheduler(
            SchedulerSettings(values.execute_steps, values.blend_steps),
            ChunkLimits(values.max_translation, values.max_rotation),
        )
        self._controller = ArmController(scheduler, values.latency_steps if self._lockstep else None)
        self._step = -1  # newest control step seen
        self._commanded: ArmCommand | None = None
        self._asked_at: dict[int, float] = {}  # of each chunk that has not commanded yet
        self._state_at = 0.0  # steady time at which the newest stamp came
        self._state_stamp_ns = 0
        self._ticked_at = 0.0
        self._holds = 0
        self._refusal = ""  # why the policy gave no chunk when it was asked last
        self._bad_chunks = 0
        self._link: ArmLink | None = None
        self._commands = self.advertise(ArmCommand, topics.ARM_COMMAND, qos.command(0.05))
        self._policy = ChunkClient(self, values.request_timeout, self._on_answer, self._on_timeout)
        self.watch_episodes()
        self.subscribe(JointState, topics.JOINT_STATES, self._on_joints, qos.STATE)
        folder = Path(values.state_folder).expanduser() if values.state_folder else None
        stop = EmergencyStop(self, self._controller, folder)
        if values.arm != "simulated":
            self._link = self._connect(stop)
        if not self._lockstep:
            if self._link is None:
                self._take_priority()
            # an arm has a loop of its own: here only the control steps are counted off
            rate = values.control_rate if self._link is None else values.state_rate
            self.every(1.0 / rate, self._tick_realtime)

    def stop(self) -> None:
        """Become an ordinary process again."""
        if self._link is not None:
            self._link.close()
            self._link = None
        elif not self._lockstep and self.parameters.priority:
            take_priority(0)

    def lingers(self) -> bool:
        """While the arm is parked; an emergency stop is heard."""
        return self._link is not None and self._link.leaves()

    def _connect(self, stop: EmergencyStop) -> ArmLink:
        values = self.parameters
        if self._lockstep:
            raise StartError(f"the arm '{values.arm}' does not wait: set 'mode' to realtime")
        settings = ServoSettings(
            period=1.0 / values.control_rate,
            command_every=max(1, round(values.control_rate / values.command_rate)),
            speed=values.max_speed,
            lowest=(values.workspace_x_low, values.workspace_y_low, values.workspace_z_low),
            highest=(values.workspace_x_high, values.workspace_y_high, values.workspace_z_high),
        )
        if not all(low < high for low, high in zip(settings.lowest, settings.highest, strict=True)):
            raise StartError(f"the workspace from {settings.lowest} to {settings.highest} m is empty")
        try:
            rig, file = load_rig(values.rig), values.joint_offsets
            offsets = load_offsets(Path(file).expanduser(), rig.limits) if file else None
        except (RigError, CalibrationError) as error:
            raise StartError(str(error)) from error
        wiring = Wiring(values.channel, values.bus, rig, offsets, values.bus_timeout)
        return ArmLink(self, wiring, settings, values.state_rate, values.priority, stop)

    def on_episode(self, episode: Episode) -> None:
        """Void what belongs to another episode."""
        if not episode.running:
            self._controller.end()
        elif episode.id != self._controller.episode:
            self._controller.begin(episode.id)
            self._step, self._commanded, self._holds, self._bad_chunks = -1, None, 0, 0
            self._policy.forget()
            self._refusal = ""
            self._asked_at.clear()
            if not self._controller.stopped:
                self.problem("")

    def details(self) -> dict[str, object]:
        """Return what the arm does."""
        controller = getattr(self, "_controller", None)
        if controller is None:
            return {}
        return {
            "mode": self.parameters.mode,
            "emergency_stop": controller.stopped,
            "holds": self._holds,
            "bad_chunks": self._bad_chunks,
            **(self._link.details() if self._link is not None else {}),
        }

    def _take_priority(self) -> None:
        if self.parameters.priority:
            try:
                take_priority(self.parameters.priority)
                lock_memory()
            except PriorityError as error:
                self.get_logger().warning(str(error))

    # -- control steps ------------------------------------------------------------------------------------------

    def _on_joints(self, message: JointState) -> None:
        stamp_ns = nanoseconds(message.header.stamp)
        now_ns = self.get_clock().now().nanoseconds
        try:
            check_stamp(stamp_ns, now_ns)
        except BadMessageError as error:
            self.statistics.drop("joint_states")
            self.problem(f"a joint state was passed over: {error}")
            return
        # A driver that repeats an old state is as silent as one that is dead; a clock that was ahead may be set right.
        if stamp_ns > min(self._state_stamp_ns, now_ns):
            self._state_at, self._state_stamp_ns = time.monotonic(), stamp_ns
        if self.episode is None or not self.episode.running:
            return
        step = self.episode.frame_of(stamp_ns)
        if not self._lockstep or step < 0:
            return
        if self._commanded is not None and self._commanded.step == step:
            self._commands.publish(self._commanded)  # shown again: the command was lost
        elif step >= self._step:
            self._step = step
            self._control(step)

    def _tick_realtime(self) -> None:
        now = time.monotonic()
        if self._ticked_at and self._link is None:
            self.statistics.add("control_period_error", abs(now - self._ticked_at - 1.0 / self.parameters.control_rate))
        self._ticked_at = now
        if self.episode is None or not self.episode.running or self.done:
            return
        elapsed_ns = self.get_clock().now().nanoseconds - self.episode.start_ns
        step = elapsed_ns // self.episode.period_ns
        if step <= self._step:
            if self._step >= 0 and step + _BACK_STEPS < self._step:
                self.problem("the arm holds: the clock went back, and what lies before was done already")
            return
        self._step = step
        if now - self._state_at > self.parameters.stale_after:
            self._send(step, Hold(f"no joint state for {self.parameters.stale_after:g} s"))
        elif self._link is not None and self._link.blocked and not self._controller.stopped:
            self._send(step, Hold(self._link.blocked))
        else:
            self._control(step)

    def _control(self, step: int) -> None:
        """Do one control step: ask for a chunk if one is due, command the arm if it need not wait."""
        assert self.episode is not None
        request = self._controller.request(step)
        if request is not None:
            self._asked_at[request.sequence] = time.perf_counter()
            self._policy.ask(self.episode.id, request)
        try:
            command = self._controller.tick(step)
        except BadChunkError as error:
            self._reject(error)
            command = self._controller.tick(step)
        if command is not None:
            self._send(step, command)

    def _send(self, step: int, command: Action | Hold) -> None:
        assert self.episode is not None
        message = ArmCommand(episode_id=self.episode.id, step=step)
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = "robot_base"
        if isinstance(command, Hold):
            message.mode, message.reason = ArmCommand.HOLD, command.reason
            self._holds += 1
            if not self._controller.stopped:
                why = f": {self._refusal}" if self._refusal else ""
                self.problem(f"the arm holds: {command.reason}{why}")
        else:
            message.mode = int(command.action_type)
            message.names = list(command.names)
            message.values = floats_array(command.values)
            message.chunk_sequence, message.chunk_index = command.sequence, command.index
            asked = self._asked_at.pop(command.sequence, None)
            if asked is not None:
                self.statistics.add("request_to_command", time.perf_counter() - asked)
            if self._bad_chunks == 0:
                self.problem(self._link.held_back if self._link is not None else "")
            self._follow(command)
        self._commanded = message
        self._commands.publish(message)

    def _follow(self, action: Action) -> None:
        """Hand an action to the arm, where there is a real one."""
        if self._link is None:
            return
        assert self.episode is not None
        try:
            self._link.follow(action, self.episode.period_ns * 1e-9)
        except UnreachableError as error:  # a person who leads it comes to its bounds all the time
            self.problem(f"{error}: it stays where it is; from its rest pose it must be lifted first")
        except ValueError as error:
            self._reject(error)

    # -- chunks -------------------------------------------------------------------------------------------------

    def _on_answer(self, episode_id: str, sequence: int, answer: PredictChunk.Response) -> None:
        if episode_id != self._controller.episode:
            return
        if self._controller.stopped:  # its chunk is not wanted any more
            self._resume()
            return
        if not answer.success:
            self._refusal = answer.message  # told with the hold that comes of it, not in turn with it
            self._controller.refuse(sequence)  # it is asked again in the next step, or when this one is shown again
            self._asked_at.pop(sequence, None)
            return
        self._refusal = ""
        try:
            if answer.chunk.episode_id != episode_id:
                raise BadMessageError(f"chunk {sequence} belongs to episode '{answer.chunk.episode_id}': dropped")
            self._controller.offer(chunk_from(answer.chunk), self._step + 1)
        except (BadMessageError, BadChunkError) as error:
            self._reject(error)
            self._controller.refuse(sequence)
        self._resume()

    def _resume(self) -> None:
        """Lock-step: do the control step that waits, if one does."""
        waits = self._commanded is None or self._commanded.step < self._step
        if self._lockstep and self._step >= 0 and waits:
            self._control(self._step)

    def _reject(self, error: Exception) -> None:
        self._bad_chunks += 1
        self.statistics.drop("policy/chunk")
        self.problem(str(error), ERROR)

    def _on_timeout(self, sequence: int) -> None:
        self.problem(f"the policy has not answered for {self.parameters.request_timeout:g} s: asking again")
        self._controller.expire(sequence)
        self._asked_at.pop(sequence, None)
        self._resume()


def main() -> None:
    """Run the node."""
    run_node(ArmControllerNode)
