"""Verbs for what a robot does with things, and what each of them leaves behind."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kc_vla.memory.asking.question import CARRIED, HANDLED, PUT, SEEN

_VERBS: Mapping[str, str] = {
    "cleaned": "wash|washed|clean|cleaned|rinse|rinsed|wipe|wiped|scrub|scrubbed",
    "sliced": "slice|sliced|cut|cut up|chop|chopped|chop up|carve|carved",
    "opened": "open|opened|unlock|unlocked",
    "closed": "close|closed|shut",
    "on": "turn on|turned on|switch on|switched on|activate|activated|start|started",
    "off": "turn off|turned off|switch off|switched off|deactivate|deactivated",
    "heated": "heat|heated|heat up|heated up|warm|warmed|warm up|warmed up|microwaved|reheat|reheated",
    "cooked": "cook|cooked|fry|fried|boil|boiled|bake|baked|roast|roasted",
    "filled": "fill|filled|fill up|filled up",
    "broken": "break|broke|broken|smash|smashed|shatter|shattered",
    "cold": "cool|cooled|chill|chilled|cool down|cooled down",
    PUT: "put|put down|put away|place|placed|leave|left|set down|lay|laid|store|stored|drop|dropped|deposit|deposited"
    "|put back|return|returned|stow|stowed|stash|stashed",
    CARRIED: "take|took|taken|pick up|picked up|pick|picked|grab|grabbed|hold|held|carry|carried|move|moved|fetch"
    "|fetched|bring|brought|transport|transported|lift|lifted",
    HANDLED: "use|used|touch|touched|handle|handled|do something with|do anything with|did something with|work with"
    "|worked with|interact with|interacted with|manipulate|manipulated",
    SEEN: "see|saw|seen|notice|noticed|spot|spotted|find|found|observe|observed|come across|came across|encounter"
    "|encountered|look at|looked at|view|viewed|detect|detected|perceive|perceived|meet|met|sight|sighted",
}
_BY_VERB = {verb: action for action, verbs in _VERBS.items() for verb in verbs.split("|")}
VERB = "|".join(sorted(map(re.escape, _BY_VERB), key=len, reverse=True))
"""Pattern of any of them."""
_APART = re.compile(
    r"^(turn|switch|pick|put|cut|chop|heat|warm|fill|cool)(?:t?ed|p?ed|led)? (.+) (on|off|up|down|away|back)$"
)
"""Verbs whose other half comes after the thing: "turn the lamp on"."""


def action_of(verb: str) -> str:
    """Return what a verb in any form stands for; empty for an unknown one."""
    return _BY_VERB.get(verb, "")


def action_and_thing(text: str) -> tuple[str, str]:
    """Return the action of "washed the cup" and of "turn the lamp on", and with what; empty where it is none."""
    if (apart := _APART.match(text)) is not None:
        verb, thing, end = apart.groups()
        if action := action_of(f"{verb} {end}"):
            return action, thing
    found = re.match(rf"^({VERB})(?: (.+))?$", text)
    return ("", "") if found is None else (action_of(found[1]), found[2] or "")
