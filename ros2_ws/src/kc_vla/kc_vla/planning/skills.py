"""The skills of the robot (KARMA, appendix D) in one table: what each needs, what it does, how long it takes.

Needs and effects are names, for each of which the body has a small function. A call is looked up in the table, never
run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

THING, HOLDER, AREA = "thing", "holder", "area"
ANYWHERE = "anywhere"
"""In place of a holder: whatever is near and has room, so that the hand is free."""


class Skill(NamedTuple):
    """A row.

    Attributes:
        name: as the paper writes it.
        arguments: what it is called with: ids of things, or of an area.
        needs: what has to hold, in the order in which it is looked at; the first that does not is the reason.
        does: what it changes.
        seconds: for acting, beside those for walking; a failure costs as many.
        meaning: for people and language models.
    """

    name: str
    arguments: tuple[str, ...]
    needs: tuple[str, ...]
    does: tuple[str, ...]
    seconds: float
    meaning: str


class Call(NamedTuple):
    """A skill to be done: its name and the ids that it is called with."""

    skill: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.skill}({', '.join(self.arguments)})"


_REACH = ("seen", "within reach")
SKILLS = (
    Skill("GoToObject", (THING,), ("seen",), ("walk to it",), 0.0, "go to a thing that is in sight"),
    Skill("GoToPlace", (AREA,), ("an area",), ("walk there",), 0.0, "go to an area"),
    Skill("Explore", (AREA,), ("an area",), ("walk there",), 2.0, "go to an area and look around"),
    Skill(
        "PickupObject",
        (THING,),
        (*_REACH, "can be picked up", "not broken", "not held", "hand empty"),
        ("take",),
        4.0,
        "take a thing into the hand",
    ),
    Skill(
        "PutObject",
        (THING, HOLDER),
        (
            *("held", "holder seen", "holder within reach", "holder holds things", "holder open"),
            *("holder not in it", "holder large enough", "holder has room"),
        ),
        ("put",),
        4.0,
        f"put what is in the hand on or into another thing; {ANYWHERE!r} to have the hand free",
    ),
    Skill(
        "OpenObject",
        (THING,),
        (*_REACH, "can be opened", "closed", "not at work"),
        ("open",),
        3.0,
        "open a door, a drawer, a box, a laptop",
    ),
    Skill("CloseObject", (THING,), (*_REACH, "can be opened", "opened"), ("close",), 3.0, "close it"),
    Skill(
        "SwitchOn",
        (THING,),
        (*_REACH, "can be switched", "not broken", "off", "shut if it cooks"),
        ("switch on",),
        2.0,
        "switch a lamp or device on, or let water run; also ToggleOn",
    ),
    Skill("SwitchOff", (THING,), (*_REACH, "can be switched", "on"), ("switch off",), 2.0, "the contrary; ToggleOff"),
    Skill(
        "SliceObject",
        (THING,),
        (*_REACH, "can be sliced", "not sliced", "not broken", "knife in the hand"),
        ("slice",),
        6.0,
        "cut a thing with the knife in the hand",
    ),
    Skill(
        "BreakObject",
        (THING,),
        (*_REACH, "can be broken", "not broken", "holds nothing"),
        ("break",),
        3.0,
        "break a thing; nobody can pick it up afterwards",
    ),
    Skill(
        "ThrowObject",
        (THING,),
        ("held", "holds nothing"),
        ("drop", "spill", "break if it can"),
        2.0,
        "throw what is in the hand onto the floor",
    ),
)
BY_NAME: Mapping[str, Skill] = {skill.name: skill for skill in SKILLS} | {
    other: skill
    for skill in SKILLS
    for other in {"SwitchOn": ("ToggleOn",), "SwitchOff": ("ToggleOff",)}.get(skill.name, ())
}
"""With the paper's second names."""
