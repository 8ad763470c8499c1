"""The service that makes an arm compliant, so that a hand can lead it or that it touches softly, and stiff again."""

from __future__ import annotations

import time

from std_srvs.srv import SetBool

from kc_vla.arm.remote import Answer
from kc_vla.arm.session import ERRORS, HANGS_S, ArmSession
from kc_vla.core import topics
from kc_vla.ros.base import StackNode
from kc_vla.ros.emergency_stop import EmergencyStop

_POLL_S, _PATIENCE_S = 0.02, 5.0
_UNTRIED = "no real arm has met this mode yet: keep a hand at the switch of its supply"


class ArmCompliance:
    """Serves the service `arm/compliance` for one session of the arm."""

    def __init__(self, node: StackNode, session: ArmSession, stop: EmergencyStop) -> None:
        """Serve it on `node`."""
        self._node, self._session, self._stop = node, session, stop
        node.serve(SetBool, topics.COMPLIANCE, self._comply)

    async def _comply(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        guides = self._node.get_parameter("compliance").value == "guide"
        why = await self._why_not(bool(request.data), guides)
        response.success = not why
        if request.data:
            how = "a hand may lead it" if guides else "it follows its targets softly"
            response.message = why or f"the arm is compliant: {how}; {_UNTRIED}"
        else:
            response.message = why or "the arm holds"
        self._node.get_logger().info(f"{topics.COMPLIANCE}: {response.message}")
        return response

    async def _why_not(self, on: bool, guides: bool) -> str:
        """Ask the arm's process; return why the arm is not as it was asked to be, empty if it is."""
        session = self._session
        if on and self._stop.is_set:
            return f"not compliant: {self._stop.advice}"
        if session.arm is None or not session.ready:
            return "the arm is not connected"
        if session.silent > HANGS_S:
            return "the arm's own process hangs"
        asked = session.ask("comply", on, guides)
        if asked is None:
            return "the arm's own process has ended"
        while not asked.done:
            if late := asked.overdue(_PATIENCE_S):
                return str(late)
            await self._node.sleep(_POLL_S)
        try:
            asked.result()
        except ERRORS as error:
            return str(error)
        return await self._became(on, asked)

    async def _became(self, on: bool, asked: Answer) -> str:
        """Wait until the arm itself reports the mode; return why it does not."""
        until, session = time.monotonic() + _PATIENCE_S, self._session
        while time.monotonic() < until:
            told = session.told
            if told is not None and told.at > asked.came_at:
                if on and not told.report.compliant:
                    return f"the arm holds: {told.report.reason}"
                if told.report.state.impedance is on:
                    return ""
            await self._node.sleep(_POLL_S)
        return f"the arm does not report the change within {_PATIENCE_S:g} s"
