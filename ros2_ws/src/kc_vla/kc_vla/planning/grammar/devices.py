"""What a device is made to do for a thing in the hand, and which device that is."""

from __future__ import annotations

from kc_vla.planning.grammar.lexicon import COFFEE, FAUCET, FRIDGE, KNIFE, MICROWAVE, SINK, Verb, noun
from kc_vla.planning.interface import PlanningError
from kc_vla.planning.skills import Call

_WATER = frozenset(["water", "soap", "sponge", "faucet", "tap", "cloth", "it", "running", "detergent", "spray"])
_BASINS = ("sink", "basin", "tub", "bathtub")
_COLD = ("fridge", "refrigerator", "freezer", "icebox")
_OPEN_HEAT = ("toaster", "stove", "burner", "stovetop", "hob")
_SHUT_HEAT = ("microwave", "oven")


def by_device(name: str, deed: Verb, tool: str, said: str) -> list[Call]:
    """Return the calls that wash, fill, heat or cool what is in the hand, and take it into the hand again.

    Raises:
        PlanningError: it cannot be done by that device.
    """
    last = noun(tool)
    if deed is Verb.CLEAN and (not tool or last in _WATER or last in _BASINS):
        return _at_water(name, tool if last in _BASINS else SINK)
    if deed is Verb.FILL and last in ("coffee", "machine", "maker"):
        return [
            Call("PutObject", (name, COFFEE)),
            Call("SwitchOn", (COFFEE,)),
            Call("SwitchOff", (COFFEE,)),
            Call("PickupObject", (name,)),
        ]
    if deed is Verb.FILL and (not tool or last in _WATER or last in _BASINS):
        return _at_water(name, tool if last in _BASINS else SINK)
    if deed is Verb.HEAT and last in _OPEN_HEAT:
        return [
            Call("PutObject", (name, tool)),
            Call("SwitchOn", (tool,)),
            Call("SwitchOff", (tool,)),
            Call("PickupObject", (name,)),
        ]
    if deed is Verb.HEAT and (not tool or last in _SHUT_HEAT):
        return _shut_in(name, tool or MICROWAVE, Call("SwitchOn", (tool or MICROWAVE,)))
    if deed is Verb.COOL and (not tool or last in _COLD):
        return _shut_in(name, tool or FRIDGE)
    raise PlanningError(f"not understood: {said[:80]!r}: it cannot be done with '{tool}'")


def does(tool: str, deed: Verb) -> bool:
    """Return whether something of that name washes, fills, heats or cools."""
    last = noun(tool)
    return last in {
        Verb.CLEAN: {*_WATER, *_BASINS},
        Verb.FILL: {*_WATER, *_BASINS, "coffee", "machine", "maker"},
        Verb.HEAT: {*_OPEN_HEAT, *_SHUT_HEAT},
        Verb.COOL: {*_COLD},
    }.get(deed, set())


def is_knife(name: str) -> bool:
    """Return whether it cuts, by its name."""
    return "knife" in name.lower() or "cutter" in name.lower()


def knife_for(*tools: str) -> str:
    """Return the first of these that cuts; any knife otherwise."""
    return next((each for each in tools if is_knife(each)), KNIFE)


def _at_water(name: str, basin: str) -> list[Call]:
    return [
        Call("PutObject", (name, basin)),
        Call("SwitchOn", (FAUCET,)),
        Call("SwitchOff", (FAUCET,)),
        Call("PickupObject", (name,)),
    ]


def _shut_in(name: str, device: str, on: Call | None = None) -> list[Call]:
    return [
        Call("OpenObject", (device,)),
        Call("PutObject", (name, device)),
        Call("CloseObject", (device,)),
        *([on, Call("SwitchOff", (device,))] if on else []),
        Call("OpenObject", (device,)),
        Call("PickupObject", (name,)),
        Call("CloseObject", (device,)),
    ]
