"""The parameters of `short_term_memory`, and the memory that they open."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.memory.embedding.models import OFFLINE, open_embedder
from kc_vla.memory.live_units import LiveUnits
from kc_vla.memory.recall.ranking import LanguageRanker
from kc_vla.memory.replacement.policies import ADAPTIVE, REPLACEMENTS
from kc_vla.memory.served import Server, ServerSettings
from kc_vla.memory.short_term.memory import LEAST_CAPACITY, MOST_CAPACITY, ShortTermMemory
from kc_vla.ros.memory_sight import SightParameters
from kc_vla.ros.parameters import parameter


@dataclass(frozen=True)
class ShortTermParameters(SightParameters):
    """Parameters of the node."""

    capacity: int = parameter(100, "capacity in units", low=LEAST_CAPACITY, high=MOST_CAPACITY)
    policy: str = parameter(ADAPTIVE, f"replacement policy: {', '.join(REPLACEMENTS.names())}", check=REPLACEMENTS.get)
    absence: float = parameter(5.0, "s out of sight after which a sighting counts as another use", low=0.0, high=3600.0)
    embedding: str = parameter(
        OFFLINE, "embedding of sentences: offline, a folder with an ONNX model, or hub:OWNER/NAME@REVISION#SHA256"
    )
    server: str = parameter(
        "", "address of an OpenAI-compatible API for vision_model, served_embedding and ranker; empty: OpenAI's own"
    )
    served_embedding: str = parameter("", "embedding model of the server, in place of embedding")
    ranker: str = parameter("", "language model of the server that ranks the units of uncertain answers")
    server_timeout: float = parameter(10.0, "s for one answer of the server", low=0.1, high=600.0)
    answer_timeout: float = parameter(60.0, "s after which a question is answered with an error", low=0.1, high=3600.0)

    def opened(self) -> LiveUnits:
        """Return the memory, empty.

        Raises:
            StackError: a model, a folder or a server that is named cannot be used.
        """
        embedder = open_embedder(self.embedding, self._served(self.served_embedding))
        ranker = self._served(self.ranker)
        memory = ShortTermMemory(self.capacity, self.policy, self.absence)
        sight = self.sight(self.server, self.server_timeout)
        return LiveUnits(memory, embedder, LanguageRanker(Server(ranker)) if ranker else None, sight)

    def _served(self, model: str) -> ServerSettings | None:
        return ServerSettings(model, self.server, self.server_timeout) if model else None
