"""The state of objects from an image, by a vision-language model (KARMA, 3.4 and appendix F), in four steps.

`StateReader` asks for it while a robot works. Without a server the state is the one that comes with the detection.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence

from kc_vla.memory.served import Server, ServerError
from kc_vla.memory.short_term.unit import MOST_LETTERS, ObjectState, UnitError, plain, spoken, state_of

MOST_IMAGE_BYTES = 8 << 20
_KINDS = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}
_ROLE = (
    "You look at pictures from a robot's camera and tell the states of objects. Go through the steps in their order."
)
_STEPS = """Step 1. Say in two or three sentences what the picture shows.
Step 2. The robot's task is {task}. Say again what of step 1 is about the objects {objects}.
Step 3. Choose for each of these objects the one state that fits what you see: {states}.
Take none where you cannot see it, or where no other fits.
Step 4. End with a line "RESULT" and below it, for each object, one line with the object, a colon and its state."""


def states_from_image(server: Server, image: bytes, task: str, objects: Sequence[str]) -> Mapping[str, ObjectState]:
    """Return the state of each object that the model names; the others are left out.

    Args:
        server: of a vision-language model.
        image: JPEG or PNG.
        task: that the robot has.
        objects: their types, as `Unit.object_type`.

    Raises:
        ServerError: the server does not answer, or not in that form.
        UnitError: there is no such image, no object, or a text that is too long.
    """
    kind = next((kind for start, kind in _KINDS.items() if image.startswith(start)), None)
    if kind is None or len(image) > MOST_IMAGE_BYTES:
        raise UnitError(f"no image to read states from: a JPEG or PNG below {MOST_IMAGE_BYTES >> 20} MB is wanted")
    if not objects or max(map(len, objects)) > MOST_LETTERS or len(task) > 10 * MOST_LETTERS:
        raise UnitError("to tell states, name objects of at most 200 letters each and a task of at most 2000")
    names = {_bare(each): each for each in objects}
    steps = _STEPS.format(
        task=repr(plain(task)),
        objects=", ".join(map(repr, names)),
        states=", ".join(state.value for state in ObjectState),
    )
    picture = f"data:{kind};base64,{base64.b64encode(image).decode()}"
    content = [{"type": "text", "text": steps}, {"type": "image_url", "image_url": {"url": picture}}]
    said = server.say([{"role": "system", "content": _ROLE}, {"role": "user", "content": content}])
    found = _read(said, names)
    if not found:
        raise ServerError(f"the model {server.settings.model} gave no state of {', '.join(names)}")
    return found


def _read(said: str, names: Mapping[str, str]) -> dict[str, ObjectState]:
    """Return the states in the lines below the last RESULT.

    Lines of no known object, or of no known state, are left out, and objects of which two lines say different states.
    """
    found: dict[str, set[ObjectState]] = {}
    _, result, told = said[-20_000:].rpartition("RESULT")
    for line in told.splitlines() if result else ():
        name, colon, state = line.rpartition(":")
        if colon and (object_type := names.get(_bare(name))) is not None:
            try:
                found.setdefault(object_type, set()).add(state_of(_bare(state)))
            except UnitError:
                continue
    return {object_type: states.pop() for object_type, states in found.items() if len(states) == 1}


def _bare(text: str) -> str:
    """Return a name as people write it, without what a model puts around it."""
    return " ".join(re.sub(r"[*`_\"'.:-]", " ", spoken(text)).split())
