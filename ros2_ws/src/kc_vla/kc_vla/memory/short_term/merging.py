"""One unit out of what is known of an object and what was seen of it now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kc_vla.memory.short_term.unit import ObjectState, Unit, UnitError


def merged_unit(known: Unit, unit: Unit, whole: bool = False) -> Unit:
    """Return what was seen last, with what only the known unit has; a state keeps what read it.

    Of a unit that says the whole only what images give is kept, the known image and a state that was read from one:
    that a detector says nothing of them says nothing.
    """
    if whole:
        read = known.state_source and unit.state is ObjectState.NONE
        if (unit.image or not known.image) and not read:
            return unit
        said = known if read else unit
        return replace(unit, image=unit.image or known.image, state=said.state, state_source=said.state_source)
    has_state = unit.state is not ObjectState.NONE or known.state is ObjectState.NONE
    has_texts = (unit.area or not known.area) and (unit.image or not known.image)
    if has_state and has_texts and known.attributes.keys() <= unit.attributes.keys():
        return unit  # what a detector tells in every frame: nothing is checked twice
    attributes = {**known.attributes, **unit.attributes}
    said = unit if has_state else known
    kept: dict[str, Any] = {
        "state": said.state,
        "state_source": said.state_source,
        "area": unit.area or known.area,
        "image": unit.image or known.image,
    }
    try:
        return replace(unit, attributes=attributes, **kept)
    except UnitError:  # too many attributes together: the newer ones
        return replace(unit, **kept)
