"""How well things are found by text in a long-term memory, beside what words or cosines alone find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from kc_vla.core.shares import Share
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.evaluation.halves import SPLITS
from kc_vla.memory.evaluation.searches import KINDS, SearchPhrase
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.query import Query, find
from kc_vla.memory.long_term.words import Words
from kc_vla.memory.recall.confidence import LogisticCurve, fit_curve
from kc_vla.memory.references.fits import Fit
from kc_vla.memory.searching.graph_search import GraphSearch
from kc_vla.memory.searching.meaning import How, Meanings
from kc_vla.memory.searching.text_search import TextAnswer

Right = Mapping[str, Sequence[bool]]
"""Whether each method answered each phrase rightly."""
Evidenced = tuple[How, Fit, float, float, float, bool]
"""How a text names types, the fit of the first thing, score and lead of its type, the confidence, and whether it is
right."""


def is_right(fits: frozenset[str], found: Sequence[str]) -> bool:
    """Return whether the first thing found fits, or nothing was found where nothing fits."""
    return found[0] in fits if fits and found else not fits and not found


def answers(searches: Sequence[SearchPhrase], embedder: Embedder) -> Right:
    """Return which phrases each method answers rightly: words alone, with cosines, and the whole search."""
    methods: dict[str, Callable[[SearchPhrase], list[str]]] = {
        "words": lambda one: _by_words(one, Words()),
        "words and cosine": lambda one: _by_words(one, Words(embedder.embed)),
        "search": lambda one: [each.thing.object_id for each in _answer(one, one.scene.graph, embedder).matches],
    }
    return {name: [is_right(each.fits, method(each)) for each in searches] for name, method in methods.items()}


def table(searches: Sequence[SearchPhrase], right: Right) -> str:
    """Return the share of right answers of each method as Markdown tables, one for each half and series."""
    lines = []
    for split in SPLITS:
        for series in dict.fromkeys(each.series for each in searches):
            lines += [f"{split} homes, {series} series: right, %", "", f"| | {' | '.join((*KINDS, 'all'))} |"]
            lines += [f"| --- |{' --- |' * (len(KINDS) + 1)}"]
            for name, each_right in right.items():
                of = [(one, ok) for one, ok in zip(searches, each_right, strict=True)]
                of = [(one, ok) for one, ok in of if (one.split, one.series) == (split, series)]
                shares = [_share(ok for one, ok in of if one.kind == kind) for kind in KINDS]
                lines.append(f"| {name} | {' | '.join(map(str, (*shares, _share(ok for _, ok in of))))} |")
            lines.append("")
    return "\n".join(lines)


def evidence(searches: Sequence[SearchPhrase], embedder: Embedder) -> list[Evidenced]:
    """Return the answers to phrases without relations, in homes with and without what fits."""
    meanings, found = Meanings(embedder), []
    for each in searches:
        if each.kind == "relations":
            continue
        graph = each.scene.graph
        left = [node for node in graph.nodes() if node.id not in each.fits]
        for fits, asked in ((each.fits, graph), (frozenset[str](), SceneGraph(graph.map_id, left))):
            answer = _answer(each, asked, embedder)
            if answer.matches and not (asked is not graph and not each.fits):
                meaning = meanings.of(each.text, dict.fromkeys(one.object_type for one in asked.objects.values()))
                first = answer.matches[0]
                ok = first.thing.object_id in fits
                found.append((meaning.how, first.fit, meaning.score, meaning.lead, answer.confidence, ok))
    return found


def curves(found: Sequence[Evidenced]) -> dict[tuple[How, Fit], LogisticCurve]:
    """Return the likeliest curves for answers: a share alone where types are named, else over score and lead."""
    fitted = {}
    for key in dict.fromkeys((how, fit) for how, fit, *_ in found):
        chosen = [each for each in found if each[:2] == key]
        right = np.array([each[5] for each in chosen])
        if key[0] in (How.KIND, How.GUESSED) and 0 < right.sum() < len(right):
            score, lead = (np.array([each[at] for each in chosen], float) for at in (2, 3))
            fitted[key] = fit_curve(score, lead, right)
        else:
            share = (right.sum() + 1) / (len(right) + 2)
            fitted[key] = LogisticCurve(round(float(np.log(share / (1 - share))), 2), 0.0, 0.0)
    return fitted


def sureness(found: Sequence[Evidenced]) -> str:
    """Return what confidences are worth, as a Markdown table."""
    lines = ["| confidence | mean | right, % | answers |", "| --- | --- | --- | --- |"]
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01)):
        chosen = [each for each in found if low <= each[4] < high]
        if chosen:
            share = Share(sum(each[5] for each in chosen), len(chosen))
            mean = sum(each[4] for each in chosen) / len(chosen)
            lines.append(f"| {low:.1f} to {min(high, 1.0):.1f} | {mean:.2f} | {share} | {len(chosen)} |")
    return "\n".join(lines)


def _share(right: Iterable[bool]) -> Share:
    each = list(right)
    return Share(sum(each), len(each))


def _by_words(one: SearchPhrase, words: Words) -> list[str]:
    objects = one.scene.graph.objects
    return [each.thing.id for each in find(one.scene.graph, Query(one.text), words.scores(objects, one.text))]


def _answer(one: SearchPhrase, graph: SceneGraph, embedder: Embedder) -> TextAnswer:
    return GraphSearch(embedder.embed).answer(graph, one.text, one.viewpoint)
