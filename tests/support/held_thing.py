"""What a robot holds, as tests say it."""

from __future__ import annotations

import re

from kc_vla.memory.things import ObservedThing


def held(object_id: str, state: str = "", **attributes: str) -> ObservedThing | None:
    """A thing of the type that its id names: held("Mug_1", colour="blue"); None for an empty id."""
    if not object_id:
        return None
    kind = re.sub(r"_[0-9]+$", "", object_id)
    return ObservedThing(kind, object_id, (0.0, 0.0, 1.0), (0.1, 0.1, 0.1), state, attributes, "held", "", "", True)
