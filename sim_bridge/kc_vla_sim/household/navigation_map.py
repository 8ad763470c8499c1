"""Where the robot of a household can go, as its map says it."""

from __future__ import annotations

from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla_sim.household.floor_plan import FloorPlan


def navigation_map_of(plan: FloorPlan) -> NavigationMap:
    """Return the areas of a home, with the ways between them, m, stairs included; each has the name of its room."""
    return NavigationMap(
        Area(area.id, area.floor, area.position, plan.beside(area.id), area.room) for area in plan.areas.values()
    )
