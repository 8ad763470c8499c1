"""What people ask things for, beyond the purposes for which a planner takes things by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kc_vla.memory.references.purposes import Purpose

_NONE: frozenset[str] = frozenset()


def _of(*words: str) -> Purpose:
    return Purpose(_NONE, words)


_CLEANS = _of(
    *[
        "sponge",
        "cloth",
        "rag",
        "soap bar",
        "soap bottle",
        "spray bottle",
        "soap",
        "detergent",
        "brush",
        "broom",
        "mop",
        "towel",
        "vacuum",
    ]
)
_LIGHTS = _of("candle", "lamp", "light switch", "flashlight", "torch", "lantern")
_CUTS = _of("knife", "scissors", "saw", "axe", "razor", "cleaver", "peeler")
_PHONES = _of("phone", "telephone", "smartphone")
_WRITES_MAIL = _of("laptop", "computer", "phone", "tablet")
_TELLS_TIME = _of("clock", "watch")
_HOLDS_WATER = _of(
    "cup",
    "mug",
    "glass",
    "glassbottle",
    "bowl",
    "pot",
    "kettle",
    "vase",
    "watering can",
    "bucket",
    "pan",
    "wine bottle",
)
_SOFT = _of("pillow", "cushion", "blanket", "towel", "cloth", "sofa", "bed")
_PURPOSES: Mapping[str, Purpose] = {
    r"\b(?:wash|clean|rinse|dry) (?:my |your |our |the )?(?:hands|face)\b": _of(
        "sink basin", "soap bar", "soap bottle"
    ),
    r"\bsharp\b|\bcuts?\b|\b(?:cut|slice|chop|carve|peel)\b.*\b(?:with)?$": _CUTS,
    r"\b(?:clean|wash|wipe|scrub|polish|dust|mop|rinse|cleans|tidy)(?:ing)?\b": _CLEANS,
    r"\b(?:dry|drying)\b": _of("towel", "cloth"),
    r"\b(?:season|seasoning|spice|flavou?r|salty)\b": _of("salt shaker", "pepper shaker", "spice"),
    r"\bwater (?:the |my |our |some )?(?:plants?|flowers?|garden)\b": _of("watering can", "kettle", "glassbottle"),
    r"\b(?:tells?|know|see|read|check|shows?) (?:me |us )?(?:the |what )?time\b|\bwak(?:e|es|ing)\b": _TELLS_TIME,
    r"\b(?:gives?|makes?) (?:some |me |us )?light\b|\blights?\b|\bbright\b|\billuminate|\bsee in the dark\b"
    r"|\bglows?\b": _LIGHTS,
    r"\b(?:music|song|listen)\b": _of("cd", "radio", "record", "speaker", "phone"),
    r"\b(?:phone|call|ring|text|dial)\b": _PHONES,
    r"\b(?:e-?mails?|browse|internet|surf|type|program|compute|online)\b": _WRITES_MAIL,
    r"\b(?:lay|rest|put) (?:my|your|the|one's) head\b|\bsoft\b|\bcuddl|\bsleep on\b": _SOFT,
    r"\b(?:change (?:the )?channels?|zap|switch channels?)\b": _of("remote control"),
    r"\b(?:watch) (?:a |the |some )?(?:film|movie|news|show|series|match|tv)s?\b": _of("television", "laptop", "phone"),
    r"\b(?:pay|buy|shop)\b": _of("credit card", "wallet", "purse", "money"),
    r"\b(?:unlock|lock|open|get into|start) (?:the |my |our )?(?:front |house |car |main )?(?:door|house|car"
    r"|flat|home)\b"
    r"|\bopens? (?:the |my )?(?:front |house )?(?:door|house|car)\b": _of("key chain", "keys", "key"),
    r"\bplay(?:s|ed|ing)? (?:with|a game|sports?|ball|tennis|baseball|basketball|football)\b|\bplay$|\btoys?\b": _of(
        "ball", "bat", "racket", "toy", "doll", "game"
    ),
    r"\b(?:blow|wipe) (?:my|your|the) nose\b|\bsneez": _of("tissue box", "toilet paper", "tissue"),
    r"\b(?:sit|sits|sitting)\b": _of("sofa", "chair", "ottoman", "bed", "stool", "bench"),
    r"\b(?:sleep|lie down|lie)\b": _of("bed", "sofa"),
    r"\b(?:carry|hold|holds|fetch|keep|pour|boil|fill|heat) (?:some |the )?(?:water|liquid|tea|soup"
    r"|milk)\b": _HOLDS_WATER,
    r"\b(?:fry|frying)\b": _of("pan"),
    r"\b(?:cook|cooking|boil|stew)\b": _of("pan", "pot", "kettle", "stove burner", "microwave"),
    r"\b(?:make|brew) (?:some |a |me )?(?:cup of )?tea\b": _of("kettle"),
    r"\b(?:make|brew) (?:some |a |me )?(?:cup of )?coffee\b": _of("coffee machine"),
    r"\b(?:stir|serve|scoop|ladle|flip)\b": _of("spoon", "ladle", "spatula"),
    r"\b(?:toast)\b": _of("toaster"),
    r"\b(?:heat|warm)(?: up)?\b": _of("microwave", "stove burner", "pan", "pot"),
    r"\b(?:decorat\w+|pretty|ornament\w*)\b": _of("vase", "statue", "candle", "painting"),
    r"\b(?:flowers?|bouquet)\b": _of("vase"),
    r"\b(?:throw|put) (?:away |out )?(?:the |my |some )?(?:rubbish|trash|garbage|waste)\b": _of("garbage can"),
    r"\b(?:unblock|unclog|plunge)\b": _of("plunger"),
    r"\b(?:read|reading)\b": _of("book", "newspaper", "magazine", "letter", "novel"),
    r"\b(?:write|writing|draw|drawing|sketch|note)\b": _of("pen", "pencil", "crayon", "marker"),
    r"\b(?:drink|sip)\b.*\b(?:from|out of)$": _of("cup", "mug", "glass", "glassbottle", "wine bottle", "goblet"),
    r"\b(?:drink|thirst)\b": _of("wine bottle", "beer", "milk", "juice", "soda", "glassbottle"),
    r"\b(?:eat|snack|edible|hungry|breakfast|lunch|dinner)\b": _of(
        *[
            "apple",
            "bread",
            "egg",
            "lettuce",
            "potato",
            "tomato",
            "banana",
            "orange",
            "cake",
            "cookie",
            "cereal",
            "carrot",
            "cheese",
            "sandwich",
        ]
    ),
}
_TABLE = tuple((re.compile(pattern), purpose) for pattern, purpose in _PURPOSES.items())


def everyday_purpose(text: str) -> Purpose | None:
    """Return what a text such as "something to season the soup with" wants things for; None where that is not known."""
    plain = " ".join(text.lower().split()).rstrip("?. ")
    return next((purpose for pattern, purpose in _TABLE if pattern.search(plain)), None)
