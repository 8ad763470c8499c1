"""The words that the grammar knows: what is done, by which device, and words that say how or where. No nouns of things.

Verbs are written in their plain form, of several words where they have several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache

from kc_vla.memory.references.spatial_phrases import without_relation


def word_set(said: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(said.split())


def noun(name: str) -> str:
    """Return the word of a name that says what it is: of "red mug next to sink" the mug; empty for an empty name."""
    return without_relation(name).rpartition(" ")[2]


class Verb(Enum):
    """What an instruction asks for."""

    MOVE = "move"
    TAKE = "take"
    GO = "go"
    FIND = "find"
    EXPLORE = "explore"
    CLEAN = "clean"
    FILL = "fill"
    HEAT = "heat"
    COOL = "cool"
    SLICE = "slice"
    LOOK = "look"
    OPEN = "open"
    CLOSE = "close"
    ON = "on"
    OFF = "off"
    TOGGLE = "toggle"
    BREAK = "break"
    THROW = "throw"
    BIN = "bin"
    USE = "use"
    MAKE = "make"


_VERBS: Mapping[Verb, str] = {
    Verb.MOVE: "put, place, move, set, bring, carry, take, return, transfer, store, leave, lay, stick, deliver, "
    "relocate, stack, drop off, put down, put back, set down, place down, lay down, rest, deposit, stash, hide, add, "
    "insert, stand, be placed, be put, hang, hang up, load, shift, put away, set up, sit, serve, fit, keep, position, "
    "secure, arrange, pop, slip, slide, tuck, shove, plop, tuck away, stow, stow away, rearrange",
    Verb.TAKE: "pick up, pick, grab, get, fetch, hold, lift, lift up, retrieve, take out, remove, collect, gather, "
    "hold up, give, hand, pass, obtain, acquire, hold onto, pull out, gather up, bring over, take hold of, grasp, "
    "go get, go fetch, get hold of, snatch, seize",
    Verb.GO: "go to, walk to, go over to, walk over to, head to, head over to, drive to, approach, come over to, "
    "navigate to, stand at, stand by, visit, go into, walk into, enter, proceed to, go back to, turn to, "
    "go, walk, show, face",
    Verb.FIND: "find, look for, search for, locate, seek, hunt for, where is",
    Verb.EXPLORE: "explore, look around, look around in, search, have a look around",
    Verb.CLEAN: "wash, clean, rinse, rinse off, rinse out, wash off, wash out, wash up, scrub, soak, wet, cleanse, "
    "clean off, clean up, be washed, dampen, moisten, run water over, sanitize, wipe, wipe off, wipe down",
    Verb.FILL: "fill, fill up, top up",
    Verb.HEAT: "heat, warm, microwave, cook, reheat, heat up, warm up, nuke, bake, zap, boil, toast",
    Verb.COOL: "cool, chill, refrigerate, cool down, cool off, chill down, freeze",
    Verb.SLICE: "slice, cut, chop, cut up, chop up, slice up, dice, carve, halve, mince",
    Verb.LOOK: "look at, examine, inspect, check out, view, study, see, observe, look over, read, look closely at, "
    "check, illuminate, look, show off, shine, have a look at, take a look at",
    Verb.OPEN: "open, open up, pull open",
    Verb.CLOSE: "close, shut, close up",
    Verb.ON: "turn on, switch on, toggle on, light, light up, activate, start, power on, power up, run",
    Verb.OFF: "turn off, switch off, toggle off, shut off, turn out, put out, deactivate, extinguish, power off, "
    "shut down, power down",
    Verb.TOGGLE: "toggle, switch, flip, flick, press",
    Verb.BREAK: "break, smash, shatter, crack",
    Verb.THROW: "throw, toss, drop, hurl, fling",
    Verb.BIN: "throw away, throw out, dispose of, discard, trash, toss out, get rid of, toss away, bin, dump",
    Verb.USE: "use",
    Verb.MAKE: "make",
}
_DOUBLED = word_set("put cut get set chop grab drop wet stop run rid flip hit dip bin transfer")

_STATE_WORDS: Mapping[Verb, str] = {
    Verb.CLEAN: "clean cleaned washed rinsed wet cleansed damp soaked",
    Verb.HEAT: "heated hot warm warmed microwaved cooked reheated heat nuked baked roasted",
    Verb.COOL: "cold chilled cooled refrigerated chill cool",
    Verb.SLICE: "sliced cut chopped diced",
}
STATES: Mapping[str, Verb] = {word: deed for deed, said in _STATE_WORDS.items() for word in said.split()}
"""Words before a noun, and what makes things so."""
TOLD: Mapping[Verb, str] = {
    Verb.CLEAN: r"\b(?:clean|cleaned|washed|rinsed)\b",
    Verb.HEAT: r"\b(?:heated|cooked|hot|warm)\b",
    Verb.COOL: r"\b(?:cold|chilled|cooled)\b",
    Verb.SLICE: r"\b(?:sliced|cut)\b",
    Verb.FILL: r"\bfilled\b",
}
"""How the text of a memory says that something is so."""

NUMBERS = {
    **{"two": 2, "both": 2, "pair": 2, "couple": 2, "three": 3, "four": 4, "five": 5, "six": 6, "2": 2, "3": 3},
    **{"4": 4, "5": 5, "6": 6, "1": 1},
}
REFUSED = word_set(
    "not never don't dont doesn't no nothing except unless if instead without neither nor only avoid isn't "
    "aren't either until twice thrice"
)
"""Words that turn around what is asked for, in ways that this grammar does not follow."""
ARTICLES = word_set("a an the this that these those my your our his her their some any one each every its")
DEFINITE = word_set("the this that these those my your our his her their its")
PRONOUNS = word_set("it them this that these those they one ones")
PERSON = frozenset(["me", "us"])
MANNER = word_set(
    "carefully quickly slowly gently thoroughly quietly softly tightly neatly thinly finely evenly firmly roughly "
    "safely silently lightly briefly cautiously smoothly properly loosely thickly fast twofold"
)
"""Words for how something is done, in which the skills have no choice."""
FILLER = MANNER | word_set(
    "please now then next finally also first firstly lastly again just afterwards "
    "afterward later well too secondly kindly immediately simply once still there"
)
"""Words that change nothing, at the beginning or the end of a clause."""
REPLACED: Mapping[str, str] = {
    **dict.fromkeys(("boil", "toast", "bake", "cook", "nuke", "zap"), "heating"),
    "freeze": "cooling",
    **dict.fromkeys(("wipe", "scrub", "soak", "sanitize", "dampen", "moisten"), "washing"),
    **dict.fromkeys(
        ("stack", "hang", "hide", "arrange", "rearrange", "fit", "secure", "tuck", "load", "serve"), "putting"
    ),
    **dict.fromkeys(("read", "study", "check"), "going to it"),
}
"""Verbs that ask for more than is done for them."""
OPENINGS = (
    *("can you", "could you", "would you", "will you", "i want you to", "i would like you to", "i'd like you to"),
    *("i need you to", "you should", "you must", "you need to", "you have to", "your task is to", "go and", "in order"),
    *("i want to", "i need to", "so as", "to", "and", "go", "try to", "make sure to", "remember to", "be sure to"),
    *(
        "the robot should",
        "robot should",
        "the goal is to",
        "let's",
        "let us",
        "robot",
        "hey robot",
        "come and",
        "you can",
        "start by",
        "proceed to",
        "continue to",
        "by",
    ),
)
MEASURES = word_set("set sets roll rolls head heads loaf loaves bunch")
"""Before "of": the noun follows."""
SLICES = word_set("slice slices piece pieces wedge wedges chunk chunks bit half halves quarter third portion cut")
"""Words for a part of something that was cut, before "of"."""
PARTS = word_set(
    "top back side left right edge middle center centre corner front inside seat bottom end surface rest arm "
    "base foot cushion tank lid burner burners spout rim"
)
"""Before "of": a place on or in what follows."""
INNER = word_set("drawer shelf rack compartment level door tier")
"""Before "of": the place itself, of what follows."""
TIMES = word_set("second seconds minute minutes time moment while bit")
INTO = word_set("in into inside on onto upon to atop within at")
NEAR = word_set(
    "near by beside next under underneath beneath behind above over below between against around front across "
    "left right along"
)
SUPERLATIVES: Mapping[str, str] = {
    **dict.fromkeys(("nearest", "closest"), "nearest"),
    **dict.fromkeys(("farthest", "furthest"), "farthest"),
}
"""Words that compare how far things are, and what each is as a preposition: "the apple closest to the sink"."""
FROM = frozenset(["from", "off", "out"])
WITH = frozenset(["with", "using", "containing", "holding"])
OTHER_PREPOSITIONS = frozenset(["for", "until", "without", "during"])
PREPOSITIONS = INTO | NEAR | FROM | WITH | OTHER_PREPOSITIONS

SINK, FAUCET, MICROWAVE, FRIDGE, KNIFE, LAMP, BIN, COFFEE = (
    *("sink", "faucet", "microwave", "fridge"),
    *("knife", "lamp", "garbage can", "coffee machine"),
)
DOORS = frozenset(["microwave", "fridge", "refrigerator"])
"""Nouns of devices that work closed: they are closed again after a thing is put in or taken out."""
DEVICES = DOORS | word_set("stove burner toaster machine maker oven")
"""Nouns of what "turn it on" is about after a thing was put there."""
FIXED = word_set(
    "table counter countertop floor room kitchen bathroom bedroom house home sink window stove fridge "
    "refrigerator wall bathtub tub oven couch sofa bed desk dresser toilet island microwave faucet mess "
    "everything dishes door ceiling cabinet cupboard shelf drawer"
)
"""Nouns of what nobody carries to a sink."""
VESSELS = word_set(
    "cup mug bowl plate pan pot box glass dish vase kettle container basket tray skillet saucer saucepan"
)
"""Nouns of what is carried with what was put into it: "put the pen into the cup and place it on the desk"."""
DRINKS = word_set("coffee tea milk juice soda lemonade cola beer wine soup cocoa")
"""Nouns of what is poured."""
ADJECTIVES: Mapping[Verb, str] = {
    Verb.CLEAN: "clean",
    Verb.HEAT: "heated",
    Verb.COOL: "cold",
    Verb.SLICE: "sliced",
    Verb.FILL: "filled",
}
"""For references to what is so already."""
ROOMS = word_set("kitchen bathroom bedroom hall hallway room house home")
LAMPS = word_set("lamp lamps lamplight light lights lighting lantern")


@cache
def verbs() -> Mapping[tuple[str, ...], Verb]:
    """Return every verb in its forms, as words: ("turn", "on"), ("turning", "on")."""
    return {form: deed for deed, said in _VERBS.items() for each in said.split(", ") for form in _forms(each.split())}


@cache
def first_words() -> frozenset[str]:
    """Return the words that verbs begin with."""
    return frozenset(words[0] for words in verbs())


@cache
def longest() -> int:
    """Return the number of words of the longest verb."""
    return max(map(len, verbs()))


@cache
def particles() -> Mapping[tuple[str, str], Verb]:
    """Return the verbs of two words between which the object may stand: ("turn", "on")."""
    return {(words[0], words[1]): deed for words, deed in verbs().items() if len(words) == 2 and words[1] in _PARTICLES}


_PARTICLES = word_set("up on off out away down back over")


def _forms(words: list[str]) -> Iterator[tuple[str, ...]]:
    first, *rest = words
    yield (first, *rest)
    if first == "where":
        return
    if first in _DOUBLED:
        yield (f"{first}{first[-1]}ing", *rest)
    else:
        yield (f"{first[:-1] if first.endswith('e') and first != 'see' else first}ing", *rest)


@cache
def participles() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the verbs by their past participles: "switched on" is of "switch on"."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for deed, said in _VERBS.items():
        for first, *rest in map(str.split, said.split(", ")) if deed not in _NOT_PASSIVE else ():
            if first not in _NEVER_PASSIVE:
                found.setdefault((_participle(first), *rest), (first, *rest))
    return found


_NOT_PASSIVE = frozenset([Verb.GO, Verb.FIND, Verb.EXPLORE, Verb.USE, Verb.MAKE])
_NEVER_PASSIVE = word_set("be see read shine look run start fit sit stand rest")
_IRREGULAR: Mapping[str, str] = {
    **{each: each for each in ("put", "set", "cut", "shut", "wet")},
    **{"bring": "brought", "take": "taken", "leave": "left", "lay": "laid", "stick": "stuck", "hide": "hidden"},
    **{"hang": "hung", "keep": "kept", "get": "got", "give": "given", "hold": "held", "break": "broken"},
    **{"throw": "thrown", "light": "lit", "fling": "flung", "freeze": "frozen"},
}


def _participle(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ed"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}d" if verb.endswith("e") else f"{verb}ed"
