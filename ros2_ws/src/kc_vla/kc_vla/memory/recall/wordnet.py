"""Makes `data/objects.tsv.gz` of WordNet's files: `python -m kc_vla.memory.recall.wordnet FOLDER` with its data.noun.

Of each word for a thing that one can see, its first senses: what WordNet says of it, its parts and what kinds of thing
it is. Nothing is chosen by what anybody asks for.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

OUTPUT = Path(__file__).parent / "data" / "objects.tsv.gz"
_THINGS, _ALSO = {6, 13}, {5, 8, 10, 17, 20, 27}
"""Lexicographers' files: artefacts and food; and animals, bodies, what is written, objects, plants, substances, of
which only words are taken that WordNet has met in running text."""
_SENSES, _KINDS = 4, 5
_TOO_GENERAL = {
    *("artifact", "artefact", "whole", "unit", "object", "physical object", "physical entity", "entity", "matter"),
    *("instrumentality", "instrumentation", "substance"),
}


class _Synset(NamedTuple):
    file: int
    words: list[str]
    kinds: list[str]
    parts: list[str]
    gloss: str


def main(folder: Path, output: Path = OUTPUT) -> None:
    """Write the table."""
    synsets = dict(_synsets(folder / "data.noun"))
    lines = sorted(filter(None, (_line(words, synsets) for words in _words(folder / "index.noun"))))
    data = ("\n".join(lines) + "\n").encode()
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(gzip.compress(data, 9, mtime=0))
    print(f"{output}: {len(lines)} words, {output.stat().st_size / 1e3:.0f} kB")


def _synsets(path: Path) -> Iterator[tuple[str, _Synset]]:
    for line in path.read_text(encoding="latin-1").splitlines():
        if line.startswith("  "):
            continue
        head, _, gloss = line.partition("|")
        fields = head.split()
        count = int(fields[3], 16)
        words = [word.replace("_", " ") for word in fields[4 : 4 + 2 * count : 2]]
        at = 5 + 2 * count
        pointers = [fields[at + 4 * each : at + 4 * each + 2] for each in range(int(fields[at - 1]))]
        kinds = [to for symbol, to in pointers if symbol in ("@", "@i")]
        parts = [to for symbol, to in pointers if symbol in ("%p", "%s")]
        yield fields[0], _Synset(int(fields[1]), words, kinds, parts, _clean(gloss))


def _words(path: Path) -> Iterator[tuple[str, int, list[str]]]:
    """Yield each word, how many of its senses were met in text, and its synsets, the most frequent first."""
    for line in path.read_text().splitlines():
        if not line.startswith("  "):
            fields = line.split()
            count = int(fields[2])
            yield fields[0].replace("_", " "), int(fields[-count - 1]), fields[-count:]


def _line(word: tuple[str, int, list[str]], synsets: dict[str, _Synset]) -> str:
    name, met, offsets = word
    senses = [synsets[each] for each in offsets if any(each.lower() == name for each in synsets[each].words)]
    senses = [each for each in senses if any(word == name for word in each.words)]  # no proper names
    things = [each for each in senses if each.file in _THINGS]
    if met and not things:
        things = [each for each in senses if each.file in _ALSO]
    if not things:
        return ""
    return "\t".join([name, *(_sense(each, synsets) for each in things[:_SENSES])])


def _sense(synset: _Synset, synsets: dict[str, _Synset]) -> str:
    """Return the sense as "words | gloss | kinds | parts"."""
    kinds: list[str] = []
    above = synset
    while above.kinds and len(kinds) < _KINDS:
        above = synsets[above.kinds[0]]
        kinds += [word for word in above.words[:2] if word not in _TOO_GENERAL]
    parts = [synsets[each].words[0] for each in synset.parts if each in synsets]
    return "|".join([", ".join(synset.words), synset.gloss, ", ".join(kinds[: 2 * _KINDS]), ", ".join(parts)])


def _clean(gloss: str) -> str:
    """Return what is said of a word, without examples and remarks."""
    said = re.sub(r";?\s*\"[^\"]*\"?", "", gloss)
    said = re.sub(r"\([^)]*\)", "", said)
    return " ".join(said.replace("|", " ").split()).strip("; ")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
