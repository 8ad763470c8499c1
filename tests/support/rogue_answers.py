"""A second policy server beside a Piper's, silent until it is told to answer with garbage."""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable
from types import TracebackType

import rclpy
from rclpy.executors import SingleThreadedExecutor

from kc_vla.core import topics
from kc_vla.core.robot import load_robot
from kc_vla_msgs.msg import ActionChunk
from kc_vla_msgs.srv import PredictChunk

HORIZON = 16
_DISCOVERY_S = 1.0


class RogueAnswers:
    """Requests reach it all the while, since it is a server of the same service; use it as a context manager."""

    def __enter__(self) -> RogueAnswers:
        """Be found, and answer nothing yet."""
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("rogue", context=self._context)
        self._node.create_service(PredictChunk, topics.PREDICT_CHUNK, self._answer)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread: threading.Thread | None = None
        time.sleep(_DISCOVERY_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Be gone."""
        self.end()
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def begin(self, spoil: Callable[[ActionChunk], None]) -> None:
        """Answer every request with a chunk of zeros that `spoil` has spoilt."""
        self._spoil = spoil
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def end(self) -> None:
        """Answer nothing any more."""
        if self._thread is not None:
            self._over.set()
            self._thread.join()
            self._thread = None

    def _serve(self) -> None:
        while not self._over.is_set():
            self._executor.spin_once(timeout_sec=0.02)

    def _answer(self, request: PredictChunk.Request, response: PredictChunk.Response) -> PredictChunk.Response:
        chunk = ActionChunk(
            episode_id=request.episode_id,
            sequence=request.sequence,
            observation_frame=request.observation_frame,
            action_type=ActionChunk.JOINT_POSITION,
            names=list(load_robot("piper").names),
            period=0.05,
            horizon=HORIZON,
            dimension=len(load_robot("piper").names),
            backend="rogue",
        )
        chunk.actions = array("f", [0.0] * HORIZON * len(load_robot("piper").names))
        self._spoil(chunk)
        response.success, response.chunk = True, chunk
        return response
