"""Where the robot of a household can go, as its map says it."""

from __future__ import annotations

import math

from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla_sim.household.floor_plan import FloorPlan

GROUND = "ground"


def navigation_map_of(plan: FloorPlan) -> NavigationMap:
    """Return the areas of a home, with the ways between them, m; the name of each is that of its room."""
    return NavigationMap(
        Area(
            area.id,
            GROUND,
            area.position,
            {other: math.dist(area.position, plan.areas[other].position) for other in area.adjacent},
            area.room,
        )
        for area in plan.areas.values()
    )
