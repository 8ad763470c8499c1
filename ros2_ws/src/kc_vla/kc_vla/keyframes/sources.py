"""The sources of keyframes by name: a new one is a file that does `scoring.Source`, and a row here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kc_vla.core.choice import Choice

if TYPE_CHECKING:
    from kc_vla.keyframes.scoring import Source


SELECTOR, DRIVEN_SELECTOR = "keyframe_selector", "keyframe_selector_driven"
"""Of the models that come with the stack: what has learnt from experts, and what knows a policy's tempo as well."""


@dataclass(frozen=True)
class SourceSettings:
    """What a source is made with; one that has no use for a setting leaves it.

    Attributes:
        model: name of a model in a registry.
        models_folder: folder with that registry, as the user named it; empty: the models that come with the stack.
        device: that the model runs on, of `kc_vla.inference.onnx_sessions.DEVICES`.
        threads: of the CPU for the model.
    """

    model: str = SELECTOR
    models_folder: str = ""
    device: str = "auto"
    threads: int = 1


def fitting_selector(policy: str, model: str = "", models_folder: str = "") -> str:
    """Name of the selector that is meant where `model` names none.

    A learned policy has another tempo than the experts, and hovers until it is told of a keyframe: of the models that
    come with the stack another one knows that. In a folder of one's own the usual name is looked for.

    Args:
        policy: what moves the arm, a name in `kc_vla.policy.backends.BACKENDS`; or empty.
        model: what the user named; or empty.
        models_folder: where, as the user named it; empty: the models that come with the stack.
    """
    if model:
        return model
    return DRIVEN_SELECTOR if policy == "learned" and not models_folder else SELECTOR


def _learned(settings: SourceSettings) -> Source:
    from kc_vla.keyframes.learned import open_learned

    return open_learned(settings)


def _oracle(settings: SourceSettings) -> Source:
    from kc_vla.keyframes.oracle import OracleSource

    return OracleSource()


def _rules(settings: SourceSettings) -> Source:
    from kc_vla.keyframes.rule_source import RuleSource

    return RuleSource()


def _events(settings: SourceSettings) -> Source:
    from kc_vla.keyframes.event_source import open_events

    return open_events(settings)


SOURCES: dict[str, Choice[SourceSettings, Source]] = {
    "learned": Choice("a network that sees the pictures", _learned),
    "oracle": Choice("the scores of the simulator", _oracle, ("maniskill", "replay"), at_once=True),
    "rules": Choice("rules, by what the robot feels", _rules, at_once=True),
    "events": Choice("what comes to an end, for a task without labels", _events),
}
"""One that computes or waits is not `at_once`: it has a worker, which scores the frames in order."""


FEELING = frozenset({"rules", "events"})
"""Those that need what the robot feels beside pictures, known before one is made."""


def open_source(name: str, settings: SourceSettings) -> Source:
    """Return the source called `name`, a key of `SOURCES`.

    Raises:
        SourceError: it cannot be had with these settings.
    """
    return SOURCES[name].make(settings)
