"""A world as plain values: what images, pages and people are shown of what is true, and a world again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kc_vla_sim.household.errors import HouseholdError, told
from kc_vla_sim.household.states import state_of
from kc_vla_sim.household.world import ROBOT, Place, World


def overview(world: World) -> dict[str, Any]:
    """Return the robot's place, time (s) and way (m), floors, areas and walls, and where everything is, for JSON.

    Of each floor it says how high it is and how far to the right it is drawn, m; walls have the height of their floor.
    """
    heights, drawn_at = world.plan.heights(), world.plan.drawn_at()
    return {
        "robot": world.at,
        "seconds": round(world.time_s, 3),
        "walked_m": round(world.walked_m, 3),
        "areas": {
            name: {
                "room": area.room,
                "floor": area.floor,
                "position": [round(each, 3) for each in area.position],
                "adjacent": list(world.plan.beside(name)),
            }
            for name, area in world.plan.areas.items()
        },
        "floors": {name: {"height": height, "drawn_at": drawn_at[name]} for name, height in heights.items()},
        "walls": [
            [[*start, heights[floor]], [*end, heights[floor]]]
            for floor, walls in world.plan.walls.items()
            for start, end in walls
        ],
        "things": {
            name: {
                "type": thing.kind.name,
                "fixed": thing.kind.fixed,
                "size": [round(each, 3) for each in thing.size],
                "position": [round(float(each), 3) for each in world.position(name)],
                "area": world.area_of(name),
                "place": list(thing.place),
                "states": sorted(thing.states),
                "hidden": world.hidden(name),
            }
            for name, thing in world.things.items()
        },
    }


def restored(world: World, about: Mapping[str, Any]) -> World:
    """Return the world of an overview.

    Args:
        world: the same home in another state; it stays as it is.
        about: what `overview` said.

    Raises:
        HouseholdError: it is of another home, or no overview.
    """
    twin = world.copy()
    holders = {*twin.things, *twin.plan.areas, ROBOT}
    try:
        same = set(about["things"]) == set(twin.things) and about["robot"] in twin.plan.areas
        if not same or not all(thing["place"][1] in holders for thing in about["things"].values()):
            raise HouseholdError("the state is that of another home: give the scene and the seed of this one")
        for name, thing in about["things"].items():
            relation, holder, spot = thing["place"]
            place = Place(str(relation), str(holder), int(spot))
            if place != twin.things[name].place:
                twin.move(name, place)
            twin.set_states(name, frozenset(state_of(str(each)) for each in thing["states"]))
        twin.at, twin.time_s, twin.walked_m = about["robot"], float(about["seconds"]), float(about["walked_m"])
    except HouseholdError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise HouseholdError(f"this is no state of a home ({told(str(error))})") from error
    return twin
