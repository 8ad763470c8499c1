"""All patterns of questions, each with what makes a checked question of it; the first that fits counts."""

from __future__ import annotations

import re
from collections.abc import Callable

from kc_vla.memory.asking.forms_of_actions import ACTION_FORMS
from kc_vla.memory.asking.forms_of_places import CONTENT_FORMS, ORDERED_FORM, WHERE_FORMS
from kc_vla.memory.asking.forms_of_states import CONDITION_FORMS, DUTY_FORM, IS_FORM, STATE_FORMS
from kc_vla.memory.asking.forms_of_things import COUNT_FORMS, FOR_FORMS, LAST_RESORT, THERE_FORMS
from kc_vla.memory.asking.question import MemoryQuestion

Form = Callable[[re.Match[str]], MemoryQuestion | None]
_TABLE: tuple[tuple[str, Form], ...] = (
    DUTY_FORM,
    *FOR_FORMS[-2:],
    *WHERE_FORMS,
    *COUNT_FORMS,
    *ACTION_FORMS,
    *CONDITION_FORMS,
    FOR_FORMS[0],
    *CONTENT_FORMS,
    *FOR_FORMS[1:-2],
    *THERE_FORMS,
    *STATE_FORMS,
    ORDERED_FORM,
    IS_FORM,
    LAST_RESORT,
)
FORMS = tuple((re.compile(pattern), form) for pattern, form in _TABLE)
