"""A learned policy's model: its files and what must be known to run it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kc_vla.core.chunk import ActionType
from kc_vla.core.views import checked_views
from kc_vla.inference.models import RegisteredModel, find_model, settings_of
from kc_vla.policy.history import KEYFRAMES, History, history_of

KIND = "policy"
MARKED, EVENTS = CHOSEN = ("marked", "events")
"""The keyframes that a policy can be trained with: those of the data, or events where nobody has marked any."""


@dataclass(frozen=True)
class PolicyModel:
    """A learned policy's model: its files and what must be known to run it.

    Attributes:
        name: in the registry.
        stem: ONNX file, images (V, S, S, 3) uint8 to maps (V, C, M, M).
        memory: ONNX file, maps (1, V, C, M, M) and state (1, N) of a keyframe to what is remembered of it (1, R).
        chunk: ONNX file, all that is known to actions; see `kc_vla.learning.policy.export`.
        image_size: S, px.
        slots: keyframes that it attends to at most, or tokens that stand for all of them.
        horizon: actions of a chunk.
        robot: the robot that it moves.
        action: kind of its actions.
        views: V, that it looks at, in order.
        instructions: that it knows, in the order of its embeddings.
        history: what of the past it is given.
        condense: ONNX file, what is remembered of any number of keyframes (1, K, R) to that of `slots` tokens; None
            where it attends to keyframes themselves.
        keyframes: whose keyframes it has learned with: "marked", or those of "events".
    """

    name: str
    stem: Path
    memory: Path
    chunk: Path
    image_size: int
    slots: int
    horizon: int
    robot: str
    action: ActionType
    views: tuple[str, ...]
    instructions: tuple[str, ...]
    history: History = KEYFRAMES
    condense: Path | None = None
    keyframes: str = MARKED

    @property
    def source(self) -> str:
        """Return the selector that should choose its keyframes, of `kc_vla.keyframes.selectors.SELECTORS`."""
        return "learned" if self.keyframes == MARKED else self.keyframes


def load_policy(folder: Path, name: str) -> PolicyModel:
    """Return the policy called `name` in the registry of `folder`.

    Raises:
        ModelError: it is not there, or not as it should be.
    """
    return policy_from(find_model(folder, name, KIND))


def policy_from(entry: RegisteredModel) -> PolicyModel:
    """Return a registry's entry as a model.

    Raises:
        ModelError: a setting is missing or damaged.
    """
    with settings_of(entry) as settings:
        return PolicyModel(
            name=entry.name,
            stem=entry.files["stem"],
            memory=entry.files["memory"],
            chunk=entry.files["chunk"],
            image_size=int(settings["image_size"]),
            slots=int(settings["slots"]),
            horizon=int(settings["horizon"]),
            robot=str(settings["robot"]),
            action=ActionType[str(settings["action"]).upper()],
            views=checked_views(settings["views"]),
            instructions=tuple(str(text) for text in settings["instructions"]),
            history=history_of(str(settings.get("history", KEYFRAMES))),
            condense=entry.files.get("condense"),
            keyframes=_chosen(str(settings.get("keyframes", MARKED))),
        )


def _chosen(keyframes: str) -> str:
    if keyframes not in CHOSEN:
        raise ValueError(f"keyframes are '{keyframes}', none of {', '.join(CHOSEN)}")
    return keyframes
