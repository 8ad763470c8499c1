"""Node `home_page`: serves the live map of a home on this machine; without a token the map is read-only."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial

from action_msgs.srv import CancelGoal
from rclpy.action import ActionClient
from std_msgs.msg import String

from kc_vla.core import topics
from kc_vla.core.ports import HOUSEHOLD_PAGE
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.shown_crops import follow_crops
from kc_vla.web.serving import PageThread, listening_there_or_elsewhere
from kc_vla_msgs.action import ExecuteInstruction
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.live.board import BELIEF, TRUTH, HomeBoard
from kc_vla_sim.household.live.server import create_app

_HOST = "127.0.0.1"
_MOST_WAITING = 10
_STOP = ""


@dataclass(frozen=True)
class PageParameters(NodeParameters):
    """Parameters of the node."""

    port: int = parameter(HOUSEHOLD_PAGE, "port of the page, on this machine alone; 0: any free one", low=0, high=65535)
    token: str = parameter("", "token that a person enters to send instructions; empty: the page only shows")
    crops: str = parameter("", "folder of the crops of short_term_memory; empty: none are shown")


class HomePageNode(StackNode):
    """The node `home_page`, which serves the live map of a home."""

    Parameters = PageParameters
    parameters: PageParameters

    def __init__(self) -> None:
        super().__init__("home_page")

    def start(self) -> None:
        """Listen, and serve from a thread."""
        self._board = HomeBoard()
        self._wanted: deque[str] = deque(maxlen=_MOST_WAITING)
        self._pass_on = self.from_any_thread(self._do_wanted)
        self._planner = ActionClient(self, ExecuteInstruction, topics.EXECUTE_INSTRUCTION)
        self._cancel = self.call(CancelGoal, f"{topics.EXECUTE_INSTRUCTION}/_action/cancel_goal")
        for topic, what in ((topics.HOUSEHOLD, TRUTH), (topics.PLANNER_BELIEF, BELIEF)):
            self.subscribe(String, topic, partial(self._take, what), qos.STATUS)
        self.subscribe(String, topics.PLANNER_STEPS, partial(self._take, ""), qos.EVENT_LOG)
        crops = follow_crops(self, self.parameters.crops, self._board.show_crops)
        app = create_app(self._board, self.parameters.token, self._want, partial(self._want, _STOP), crops)
        warn = self.get_logger().warning
        self._page = PageThread(app, listening_there_or_elsewhere(_HOST, self.parameters.port, "live map", warn))
        print(f"live map: open http://localhost:{self._page.port}", flush=True)

    def stop(self) -> None:
        """Close the page."""
        self._page.close()
        self._planner.destroy()

    def _take(self, what: str, message: String) -> None:
        try:
            if what:
                self._board.tell(what, message.data)
            else:
                self._board.step(message.data)
        except HouseholdError as error:
            self.problem(str(error))

    def _want(self, instruction: str) -> None:
        """Take a request, or a stop, of a client with the token; on a thread of the server."""
        self._wanted.append(instruction)
        self._pass_on()

    def _do_wanted(self) -> None:
        while self._wanted:
            instruction = self._wanted.popleft()
            if instruction == _STOP:
                self._cancel.call_async(CancelGoal.Request())  # without an id: all of them
            else:
                self._planner.send_goal_async(ExecuteInstruction.Goal(instruction=instruction))


def main() -> None:
    """Run the node."""
    run_node(HomePageNode)
