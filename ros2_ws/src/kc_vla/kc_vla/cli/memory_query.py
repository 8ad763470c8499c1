"""`kc-vla memory query`: what is asked, and the answer in lines."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from kc_vla.core.errors import StackError
from kc_vla.memory.embedding.models import open_embedder
from kc_vla.memory.long_term.fields import to_fields
from kc_vla.memory.long_term.query import FoundObject, Query, QueryAnswer
from kc_vla.memory.long_term.tokens import shown
from kc_vla.memory.long_term.words import Embed
from kc_vla.memory.references.spatial import Viewpoint, looking

NO_EMBEDDING = "none"


class QueryError(StackError):
    """What is asked on the command line cannot be."""


def embed_of(options: argparse.Namespace, text: str) -> Embed | None:
    """Return the embedding that a text is compared by; None without a text, or where none is wanted."""
    return open_embedder(options.embedding).embed if text.strip() and options.embedding != NO_EMBEDDING else None


def query_of(options: argparse.Namespace) -> Query:
    """Return what is asked.

    Raises:
        QueryError: two texts or relations are given, or the viewpoint is no pose.
        GraphError: a number makes no sense.
    """
    if options.text and options.said:
        raise QueryError("two texts: give the text once, with --text or without")
    related = [(name, options.__dict__[name.replace(" ", "_")]) for name in ("on", "in", "next to")]
    asked = [(name, other) for name, other in related if other]
    if len(asked) > 1:
        raise QueryError("only one of --on, --in and --next-to can be asked at once")
    relation, other = asked[0] if asked else ("", "")
    return Query(
        options.text or options.said,
        options.type,
        options.area,
        tuple(options.near) if options.near else None,
        options.radius,
        relation,
        other,
        limit=options.limit,
        viewpoint=_viewpoint(options.viewpoint),
    )


def _viewpoint(words: list[str] | None) -> Viewpoint | str | None:
    """Return a viewpoint of X Y Z, of X Y Z and a yaw, or of a name of one or more words."""
    if not words:
        return None
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return " ".join(words)
    if len(numbers) not in (3, 4):
        raise QueryError(f"--from with {len(numbers)} numbers: give X Y Z in m, and the yaw in rad if one looks ahead")
    x, y, z = numbers[:3]
    return looking((x, y, z), numbers[3]) if len(numbers) == 4 else Viewpoint((x, y, z))


def answer_lines(answer: QueryAnswer, query: Query, as_json: bool) -> Iterator[str]:
    """Yield the objects of an answer, a line each; that of the first says how sure the answer to a text is."""
    for at, each in enumerate(answer.found):
        sure = f"; meant with confidence {answer.confidence:.2f}" if query.text and not at else ""
        yield _as_json(each, answer) if as_json else f"{_line(each)}{sure}"


def _line(found: FoundObject) -> str:
    thing = found.thing
    place = ", ".join(f"{value:.2f}" for value in thing.position)
    parts = [thing.id, shown(thing.object_type), f"at {place}"]
    parts += [f"in {thing.area}"] if thing.area else []
    parts += [f"{thing.placed} {thing.holder}"] if thing.holder else []
    parts += [shown(thing.state)] if thing.state else []
    parts += [f"{shown(name)}: {shown(value)}" for name, value in thing.attributes.items()]
    parts += [f"{found.distance_m:.2f} m off"] if found.distance_m is not None else []
    return f"{found.score:.2f} {'; '.join(parts)}; sure {thing.confidence:.2f}"


def _as_json(found: FoundObject, answer: QueryAnswer) -> str:
    said = {"score": found.score, "distance_m": found.distance_m, "confidence": answer.confidence}
    return json.dumps({**said, "object": to_fields(found.thing)})
