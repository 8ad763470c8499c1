"""The selectors that come with the stack. A row imports what it makes when it makes it: nothing else waits for that."""

from __future__ import annotations

from kc_vla.core.options import NoOptions
from kc_vla.keyframes.scoring import SelectorBackend
from kc_vla.keyframes.selectors import NetworkOptions, SelectorKind


def _learned(options: NetworkOptions) -> SelectorBackend:
    from kc_vla.keyframes.learned import open_learned

    return open_learned(options)


def _oracle(options: NoOptions) -> SelectorBackend:
    from kc_vla.keyframes.oracle import OracleSource

    return OracleSource()


def _rules(options: NoOptions) -> SelectorBackend:
    from kc_vla.keyframes.rule_selector import RuleSource

    return RuleSource()


def _events(options: NetworkOptions) -> SelectorBackend:
    from kc_vla.keyframes.event_selector import open_events

    return open_events(options)


LEARNED = SelectorKind("a network that scores the images", NetworkOptions, _learned)
ORACLE = SelectorKind("the scores of the simulator", NoOptions, _oracle, graphs=("maniskill", "replay"), inline=True)
RULES = SelectorKind("rules on the measured state and the image", NoOptions, _rules, inline=True, needs_state=True)
EVENTS = SelectorKind(
    "the end of a motion, a grip or a change of the scene; needs no labels", NetworkOptions, _events, needs_state=True
)
