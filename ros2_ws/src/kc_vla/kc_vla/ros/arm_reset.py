"""The service that frees an arm from its own stop: it says what will happen, resets it, and names the way on."""

from __future__ import annotations

import time

from kc_vla.arm.remote import Answer
from kc_vla.arm.session import ERRORS, HANGS_S, ArmSession
from kc_vla.core import topics
from kc_vla.ros.base import StackNode
from kc_vla.ros.emergency_stop import EmergencyStop
from kc_vla_msgs.srv import ResetArm

_POLL_S, _AGAIN_S, _PATIENCE_S = 0.02, 0.5, 5.0
"""The reset is sent again after `_AGAIN_S`, as a frame may be lost."""


class ArmReset:
    """Serves the service `arm/reset` for one session of the arm."""

    def __init__(self, node: StackNode, session: ArmSession, stop: EmergencyStop) -> None:
        """Serve it on `node`."""
        self._node, self._session, self._stop = node, session, stop
        node.serve(ResetArm, topics.RESET, self._reset)

    async def _reset(self, request: ResetArm.Request, response: ResetArm.Response) -> ResetArm.Response:
        why = await self._why_not(bool(request.supported))
        response.success = not why
        way = f"{topics.RELEASE_E_STOP}, then {topics.RESUME}" if self._stop.is_set else topics.RESUME
        done = f"the arm was reset, and its motors have no power: look at it, then call {way}"
        response.message = why or done
        self._node.get_logger().info(f"{topics.RESET}: {response.message}")
        if response.success and not self._stop.is_set:
            self._node.problem(f"the arm was reset: call {way}")
        return response

    async def _why_not(self, supported: bool) -> str:
        """Reset the arm; why it is not free, empty if it is."""
        session, until = self._session, time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            if session.arm is None or not session.ready:
                return "not reset: the arm is not connected"
            if session.silent > HANGS_S:
                return "not reset: the arm's own process hangs"
            asked = session.ask("reset", supported)
            if asked is None:
                return "not reset: the arm's own process has ended"
            if why := await self._answered(asked):
                return why
            again = time.monotonic() + _AGAIN_S
            while time.monotonic() < again:
                if self._is_free(asked.came_at):
                    return ""
                await self._node.sleep(_POLL_S)
        return f"the arm does not leave its stop within {_PATIENCE_S:g} s: {session.blocked}"

    async def _answered(self, asked: Answer) -> str:
        """Wait for the arm's process; why it did not send the reset, empty if it did."""
        while not asked.done:
            if late := asked.overdue(_PATIENCE_S):
                return f"not reset: {late}"
            await self._node.sleep(_POLL_S)
        try:
            asked.result()
        except ERRORS as error:
            return str(error)
        return ""

    def _is_free(self, since: float) -> bool:
        told = self._session.told
        if told is None or told.at <= since:
            return False
        state = told.report.state
        return not (state.own_stop or state.faults or state.powered.any())
