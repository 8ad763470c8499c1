"""What a detector can say: types, colors, and the states that each type can be in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class DetectionVocabulary:
    """The words of a set of labeled images, and of a detector that is trained on it.

    Attributes:
        types: classes, in the order of the detector's output.
        colors: names of colors, likewise.
        states: by the name of a group, states of which an object is in one, e.g. "door": ("closed", "opened"). An
            empty text is the state that needs no word.
        groups: by type, the groups that it has a state of, the most important first; a type without any is left out.
    """

    types: tuple[str, ...]
    colors: tuple[str, ...]
    states: Mapping[str, tuple[str, ...]]
    groups: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if not self.types:
            raise ValueError("a vocabulary without types: name at least one")
        for what, names in (("types", self.types), ("colors", self.colors), *self.states.items()):
            if len(set(names)) != len(names) or ("" in names and what not in self.states):
                raise ValueError(f"'{what}' of a vocabulary has an empty or a repeated name: {', '.join(names)}")
        if unknown := sorted(self.groups.keys() - set(self.types)):
            raise ValueError(f"states of {', '.join(unknown)}, which are no types of the vocabulary")
        named = {group for groups in self.groups.values() for group in groups}
        if unknown := sorted(named - self.states.keys()):
            raise ValueError(f"groups of states {', '.join(unknown)}, which the vocabulary does not have")

    def as_dict(self) -> dict[str, Any]:
        """Return the vocabulary as a dictionary for JSON and YAML, which `vocabulary_from` reads."""
        return {
            "types": list(self.types),
            "colors": list(self.colors),
            "states": {group: list(states) for group, states in self.states.items()},
            "groups": {kind: list(groups) for kind, groups in self.groups.items()},
        }


def vocabulary_from(values: Mapping[str, Any]) -> DetectionVocabulary:
    """Return what `DetectionVocabulary.as_dict` gave.

    Raises:
        ValueError: something is missing or is none; the message says what.
    """
    try:
        return DetectionVocabulary(
            types=_texts(values["types"]),
            colors=_texts(values["colors"]),
            states={str(group): _texts(states) for group, states in values["states"].items()},
            groups={str(kind): _texts(groups) for kind, groups in values["groups"].items()},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a vocabulary is damaged: {error!r}") from error


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise TypeError(f"{values!r} is no list")
    return tuple(map(str, values))
