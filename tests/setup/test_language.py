"""The language of documents, docstrings and help: short sentences, and the field's words in place of our own."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from prose import messages_of_python, sentences, text_of_docstring, text_of_markdown, texts_of_python, words

ROOT = Path(__file__).parents[2]
LONGEST_SENTENCE = 40
"""Words; 20 on average is the aim."""
SOURCES = ("launch/*.py", "ros2_ws/*.py", "sim_bridge/*.py")
"""As git matches them, in folders below too."""


class Term(NamedTuple):
    """Words of our own, as a pattern that does not match ordinary English, and what to write in their place.

    Attributes:
        exact: a pattern of names that have such a word and stay.
    """

    pattern: str
    instead: str
    exact: str = r"(?!)"


TERMS = {
    "told": Term(r"told(?! apart)|tells? of", "reports, publishes, logs, returns"),
    "picture": Term(r"pictures?|(?-i:films?|Films?)", "image, video, observation, frame"),
    "felt": Term(r"felt|feels?", "proprioception, measured state"),
    "keyframe source": Term(r"keyframe sources?|sources? of keyframes", "selector"),
    "quiet frames": Term(r"quiet frames?", "debounce window"),
    "commits a keyframe": Term(r"commit(?:s|ted)? (?:(?:a|the|no) )?(?:candidate|keyframe)s?", "confirms"),
    "learnt": Term(r"learnt|taught", "trained on, fine-tuned"),
    "driven": Term(r"driven (?:episodes?|segments?|ones)", "collected by the policy, collected with `--from-policy`"),
    "looks": Term(r"(?:both|standard|varied) looks|whims?|manners", "visual randomization, expert variation"),
    "joint speed": Term(r"joint speeds?|speeds? of (?:a|each|the) joints?", "velocity, velocity limit"),
    "rest pose": Term(r"rest(?:ing)? pose", "home pose"),
    "power": Term(r"(?:give|gives|given|giving|gets?|got) (?:(?:an?|the|no) )?(?:arm |motors? )?power", "enable"),
    "let go": Term(r"lets? go|letting go|h(?:ang|angs|ung|anging) up", "release, close"),
    "of others": Term(r"of others|foreign", "third-party"),
    "farewell": Term(r"farewells?|greetings?", "handshake, shutdown message"),
    "trunk": Term(
        r"trunks?|stem (?:of|is|that)|(?:the|a|frozen) stem(?!\.\w)",
        "backbone",
        exact=r"--trunk\b|--init-parts trunk\b",  # an option, and a value of one
    ),
    "stretch": Term(r"stretch(?:es)?", "segment", exact=r"--stretch\b"),  # an option
    "deed": Term(r"deeds?|doers?", "action, skill call"),
    "whoever": Term(r"whoever|somebody", "client, operator, a person"),
    "mend": Term(r"mend(?:s|ed|ing)?", "repair"),
    "rig": Term(r"rigs?(?!/)", "robot", exact=r"policy\.rig\b"),  # a former name
    "he": Term(r"he|him|his|she|her|hers", "they, the person", exact=r"He et al\b"),  # a citation
    "British spelling": Term(
        r"\w*colour\w*|behaviours?|grey|neighbour\w*|cent(?:re|res|red)|\w*metres?|licences?|favour\w*|modell\w+|labell\w+",
        "American spelling, as ROS",
    ),
}
NO_SENTENCES = {"Of ...": r"Of\b", "See ...": r"See (?!that\b|whether\b)"}
"""Beginnings of docstrings that are no whole sentence, as patterns."""
BARE_HELP = r"(?:of|that|within|from|where)\b(?! \w+ (?:is|are)\b)"
"""The beginning of a help that goes on from the name of its option, and says nothing by itself: "of the page"."""


PACKAGES = ("ros2_ws/src/kc_vla/kc_vla/*.py", "ros2_ws/standalone/src/*.py", "sim_bridge/kc_vla_sim/*.py")
"""The sources of `kc_vla`, the stand-in for parts of ROS 2, and `kc_vla_sim`, as git matches them."""
ROS_NAMES = frozenset({"Shutdown"})
"""Names that ROS 2's `launch` itself gives to two classes, and the stand-in for it too."""


class Place(NamedTuple):
    """A text, and where it is."""

    file: str
    line: int
    text: str


def listed(*patterns: str) -> list[str]:
    """Return the paths of the repository's files that git's patterns match."""
    paths = subprocess.run(["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, check=True, capture_output=True)
    return [path for path in paths.stdout.decode().split("\0") if path]


def documents() -> list[str]:
    """Return the Markdown files that people read as pages; not the notes beside data, which quote licenses."""
    return [path for path in listed("*.md") if "/data/" not in path]


@cache
def pages() -> list[Place]:
    """Return the text of each document."""
    return [Place(path, 1, text_of_markdown((ROOT / path).read_text())) for path in documents()]


class Sources(NamedTuple):
    """What people read in the packages and launch files, and the names of the public classes of each file."""

    docstrings: list[Place]
    helps: list[Place]
    messages: list[Place]
    classes: dict[str, list[str]]


@cache
def source_texts() -> Sources:
    """Return what is in all of the files, which take seconds to read."""
    found = Sources([], [], [], {})
    for path in listed(*SOURCES):
        if "/test/" not in path:
            module = ast.parse((ROOT / path).read_text())
            nodes = [*ast.walk(module)]
            for text in texts_of_python(nodes):
                places = found.docstrings if text.is_docstring else found.helps
                places.append(Place(path, text.line, text.text))
            found.messages.extend(Place(path, text.line, text.text) for text in messages_of_python(nodes))
            found.classes[path] = [*classes_of(module)]
    return found


@cache
def docstrings() -> list[Place]:
    """Return the docstrings without code and names of arguments."""
    return [place._replace(text=text_of_docstring(place.text)) for place in source_texts().docstrings]


@cache
def helps() -> list[Place]:
    """Return the helps without code."""
    return [place._replace(text=text_of_markdown(place.text)) for place in source_texts().helps]


def matches(term: Term, texts: Sequence[Place]) -> list[str]:
    """Return a line for each place where a term's pattern matches whole words, whichever line they are in."""
    compiled = re.compile(rf"{term.exact}|(?P<own>\b(?:{term.pattern})\b)".replace(" ", r"\s+"), re.IGNORECASE)
    return [
        f"{text.file}:{text.line} ...{_one_line(text.text, found)}..."
        for text in texts
        for found in compiled.finditer(text.text)
        if found["own"]
    ]


def _one_line(text: str, found: re.Match[str]) -> str:
    return " ".join(text[max(0, found.start() - 30) : found.end() + 30].split())


def check_none(name: str, found: Sequence[str], instead: str) -> None:
    """Fail where any is found: say where they are, and what to write."""
    assert not found, f"{len(found)} of '{name}'; write {instead}:\n" + "\n".join(found)


@pytest.mark.parametrize("path", documents())
def test_no_sentence_of_a_document_is_too_long(path: str) -> None:
    long = [one for one in sentences((ROOT / path).read_text()) if words(one) > LONGEST_SENTENCE]
    assert long == []


@pytest.mark.parametrize("name", TERMS)
def test_documents_and_help_have_the_words_of_the_field(name: str) -> None:
    check_none(name, matches(TERMS[name], pages() + helps()), TERMS[name].instead)


@pytest.mark.parametrize("name", TERMS)
def test_docstrings_have_the_words_of_the_field(name: str) -> None:
    check_none(name, matches(TERMS[name], docstrings()), TERMS[name].instead)


@cache
def messages() -> list[Place]:
    """Return the errors and the printed and logged lines of the packages and launch files, without code."""
    return [place._replace(text=text_of_markdown(place.text)) for place in source_texts().messages]


@pytest.mark.parametrize("name", TERMS)
def test_errors_and_logs_have_the_words_of_the_field(name: str) -> None:
    check_none(name, matches(TERMS[name], messages()), TERMS[name].instead)


@pytest.mark.parametrize("name", NO_SENTENCES)
def test_a_docstring_begins_with_a_whole_sentence(name: str) -> None:
    found = [place for place in source_texts().docstrings if re.match(NO_SENTENCES[name], place.text.lstrip())]
    lines = [f"{place.file}:{place.line} {place.text.splitlines()[0]}" for place in found]
    check_none(name, lines, "what it is or does in a whole sentence")


def test_a_help_says_what_the_option_is() -> None:
    found = [place for place in source_texts().helps if re.match(BARE_HELP, place.text, re.IGNORECASE)]
    assert [f"{place.file}:{place.line} {place.text}" for place in found] == [], "begin with a noun or a verb"


def classes_of(module: ast.Module) -> Iterator[str]:
    """Return the names of the public classes of a module."""
    for node in module.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def with_two_owners(classes: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a line for each name of a public class that several of some modules define."""
    owners: dict[str, list[str]] = {}
    for path, names in classes.items():
        for name in names:
            owners.setdefault(name, []).append(path)
    return [f"{name}: {', '.join(paths)}" for name, paths in sorted(owners.items()) if len(paths) > 1]


def test_a_public_class_has_a_name_of_its_own() -> None:
    classes = {path: source_texts().classes[path] for path in listed(*PACKAGES)}
    found = [line for line in with_two_owners(classes) if line.partition(":")[0] not in ROS_NAMES]
    check_none("public class with two owners", found, "a name that says which of them it is")


def test_a_class_of_two_modules_is_found_and_a_private_one_is_not() -> None:
    module = "class Frame: ...\nclass _View: ...\n"
    sources = {"a.py": module, "b.py": module + "class Own: ...\n"}
    classes = {path: classes_of(ast.parse(source)) for path, source in sources.items()}
    assert with_two_owners(classes) == ["Frame: a.py, b.py"]


PAGE = """---
title: not a sentence
---
# A heading is none

A first one. The second,
in two lines (e.g. with `some. Code here`, and 0.5 s)! A third?

| a table | is. None |
| --- | --- |

- An item with [a link. Still it](https://e.org/a.b) is one.
  It goes on here.
- Another ...

```bash
This is code. All of it.
```

<!-- A comment. -->
    python -m code. And code.

Wang et al. (2020)<br> ends here. _So_ it is.
"""


def test_a_page_is_split_into_its_sentences() -> None:
    assert sentences(PAGE) == [
        "A first one.",
        "The second, in two lines (e.g. with x, and 0.5 s)!",
        "A third?",
        "An item with a link.",
        "Still it is one.",
        "It goes on here.",
        "Another ...",
        "Wang et al. (2020) ends here.",
        "_So_ it is.",
    ]


def test_a_word_has_a_letter_or_a_digit() -> None:
    assert words("It takes 0.5 s - or `x` (twice).") == 7


@pytest.mark.parametrize(("length", "is_found"), [(LONGEST_SENTENCE, False), (LONGEST_SENTENCE + 1, True)])
def test_a_sentence_that_is_too_long_is_found(length: int, is_found: bool) -> None:
    sentence = " ".join(["word"] * length)
    page = f"| {sentence} word |\n\n```\n{sentence} word\n```\n\nShort.\n{sentence}.\n"
    assert any(words(one) > LONGEST_SENTENCE for one in sentences(page)) == is_found


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("told", "It is\ntold of two things, which cannot be told apart.", 1),
        ("picture", "Pictures, films and FiLM; `pictures` and [pictures](pictures.md).", 3),
        ("picture", "In [media/images.py](media/images.py).", 0),
        ("felt", "| what it felt |", 1),
        ("looks", "It looks at standard looks.", 1),
        ("trunk", "A stem.onnx, and the stem.", 1),
        ("trunk", "Take --trunk, --init-parts\ntrunk or --trunks: a trunk.", 2),
        ("rig", "The former policy.rig is a rig.", 1),
        ("he", "As He et al. (2016), he does.", 1),
        ("British spelling", "Millimetres of gray and grey in the center.", 2),
    ],
)
def test_words_of_our_own_are_found_and_ordinary_ones_are_not(name: str, text: str, count: int) -> None:
    assert len(matches(TERMS[name], [Place("a.md", 1, text_of_markdown(text))])) == count


def test_docstrings_and_helps_are_found_without_names_of_arguments() -> None:
    source = '''"""A module."""
parser.add_argument("--a", help="what " f"{it} is")
LIMIT = 3
"""A limit."""
def run(pictures):
    """Run it.

    Args:
        pictures, films (int): what `pictures` is.

    ```yaml
    pictures: 3
    ```
    """
    return "no docstring"
period: float = parameter(0.1, "s of a period", low=0.0)
path: str = option("path of a file", "")
'''
    texts = list(texts_of_python(ast.walk(ast.parse(source))))
    assert sorted(text.text.split("\n")[0] for text in texts if text.is_docstring) == [
        "A limit.",
        "A module.",
        "Run it.",
    ]
    assert sorted((text.line, text.text) for text in texts if not text.is_docstring) == [
        (2, "what  is"),
        (16, "s of a period"),
        (17, "path of a file"),
    ]
    (run,) = (text.text for text in texts if text.text.startswith("Run"))
    assert text_of_docstring(run).split() == ["Run", "it.", "what", "x", "is."]


def test_messages_are_found_without_the_values_in_them() -> None:
    source = """
if told > 1:
    raise ValueError(f"{told} films: give one")
logger.warning("no picture", told)
print(f"{len(told)} {told!r}")
told("not said")
"""
    assert sorted((text.line, text.text) for text in messages_of_python(ast.walk(ast.parse(source)))) == [
        (3, "x films: give one"),
        (4, "no picture"),
        (5, "x x"),
    ]


def test_what_is_found_fails_and_says_what_to_write() -> None:
    check_none("told", [], "reports")
    with pytest.raises(AssertionError, match=r"2 of 'told'; write reports:\s+a\s+b"):
        check_none("told", ["a", "b"], "reports")
