"""The rows of the paper's tables 1 and 3: the same data, network and budget, another memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

KEYFRAMES = "keyframes"
"""The training that the others take over the eyes of."""


@dataclass(frozen=True)
class Regime:
    """A row.

    Attributes:
        name: of the row, and of its folder.
        memory: what the policy is given of the past, for people.
        training: name of the training that it is measured with; rows can share one.
        settings: of that training, where they are not those of all others.
        keyframes: who chooses them in the closed loop, see `kc_vla_sim.evaluate.command.KEYFRAMES`.
        ours: it is the memory of this stack, and not what it is compared with.
        paper: success of its counterpart in the paper, by task.
    """

    name: str
    memory: str
    training: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    keyframes: str = "oracle"
    ours: bool = False
    paper: Mapping[str, float] = field(default_factory=dict)


def _paper(spatial: float, temporal: float, identity: float, counting: float) -> Mapping[str, float]:
    return {"spatial": spatial, "temporal": temporal, "identity": identity, "counting": counting}


_CHOSEN = Regime(
    "selector",
    "keyframes of the learned selector",
    KEYFRAMES,
    keyframes="learned",
    ours=True,
    paper=_paper(70, 98, 100, 100),
)
TABLES: Mapping[str, tuple[Regime, ...]] = {
    "table1": (
        Regime("oracle", "keyframes of the oracle", KEYFRAMES),
        _CHOSEN,
        Regime(
            "events",
            "keyframes of events, no labels, condensed to a fixed number of tokens",
            "events",
            {"condensed": True, "keyframes": "events", "shifted": 0},  # taught with those that they choose themselves
            keyframes="events",
        ),
        Regime(
            "condensed",
            "keyframes of the learned selector, condensed to a fixed number of tokens",
            "condensed",
            {"condensed": True},
            keyframes="learned",
            ours=True,
        ),
        Regime("none", "no history", "none", {"history": "none"}, paper=_paper(20, 0, 28, 16)),
        Regime("short", "3 frames, 1 step apart", "short", {"history": "3 every 1"}, paper=_paper(14, 54, 0, 40)),
        Regime(
            "stride20", "3 frames, 20 steps apart", "stride20", {"history": "3 every 20"}, paper=_paper(18, 94, 22, 74)
        ),
        Regime(
            "stride40", "3 frames, 40 steps apart", "stride40", {"history": "3 every 40"}, paper=_paper(60, 84, 84, 0)
        ),
    ),
    "table3": (
        _CHOSEN,
        Regime(
            "unstructured",
            "the same keyframes, not told which is which",
            "unstructured",
            {"structured": False},
            keyframes="learned",
            paper=_paper(56, 96, 100, 100),
        ),
    ),
}
"""By the paper's name; its own rows are of GR00T-N1.5 with 3.5 billion weights (tables 1 and 3)."""
