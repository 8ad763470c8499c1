"""A world as plain values: what pictures, pages and people are shown of what is true."""

from __future__ import annotations

from typing import Any

from kc_vla_sim.household.world import World


def overview(world: World) -> dict[str, Any]:
    """The robot's place, time (s) and way (m), the areas, and where everything is, as JSON can say it."""
    return {
        "robot": world.at,
        "seconds": round(world.time_s, 3),
        "walked_m": round(world.walked_m, 3),
        "areas": {
            name: {"room": area.room, "position": [round(each, 3) for each in area.position]}
            for name, area in world.plan.areas.items()
        },
        "things": {
            name: {
                "type": thing.kind.name,
                "position": [round(float(each), 3) for each in world.position(name)],
                "area": world.area_of(name),
                "place": [thing.place.relation, thing.place.holder],
                "states": sorted(thing.states),
                "hidden": world.hidden(name),
            }
            for name, thing in world.things.items()
        },
    }
