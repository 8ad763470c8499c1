"""Tables that other packages extend: what is found, and what is said of a row that is broken."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pytest
from plugin import install

from kc_vla.core.options import NoOptions, OptionError, known_options, option, options_in, read_options, rules_of
from kc_vla.core.tables import OpenTable, TableError, added_names
from kc_vla.keyframes.selectors import SELECTORS
from kc_vla.nodes.keyframe_selector import SelectorParameters
from kc_vla.policy.backends import BACKENDS
from kc_vla.ros.policy_parameters import PolicyParameters

GROUP = "kc_vla.tests"
TABLE: OpenTable[str] = OpenTable(GROUP, "thing", str, {"own": "our_things:OWN"})


@pytest.fixture(autouse=True)
def own_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "our_things.py").write_text('OWN = "own row"\n')
    monkeypatch.syspath_prepend(str(tmp_path / "ours"))


def other(tmp_path: Path, patch: pytest.MonkeyPatch, rows: dict[str, str], name: str = "elsewhere") -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / f"{name}_things.py").write_text('THING = "their row"\nNUMBER = 7\n')
    (folder / f"{name}_broken.py").write_text('raise ImportError("libvendor.so: no such file\\nmore")\n')
    install(folder, patch, GROUP, rows, name)


def test_rows_of_ours_and_of_others_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other(tmp_path, monkeypatch, {"theirs": "elsewhere_things:THING"})
    assert TABLE.names() == ("own", "theirs")
    assert added_names(GROUP) == ("theirs",)
    assert TABLE.get("own") == "own row"
    assert TABLE.get("theirs") == "their row"


def test_a_broken_package_is_named_when_it_is_asked_for_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other(tmp_path, monkeypatch, {"broken": "elsewhere_broken:ROW", "theirs": "elsewhere_things:THING"})
    assert TABLE.get("theirs") == "their row"
    with pytest.raises(TableError) as caught:
        TABLE.get("broken")
    assert str(caught.value) == (
        "thing 'broken' of package 'elsewhere' cannot be loaded from elsewhere_broken:ROW: ImportError: libvendor.so: "
        "no such file: repair or uninstall the package"
    )
    assert [(row.name, row.row, bool(row.error)) for row in TABLE.rows()] == [
        ("own", "own row", False),
        ("broken", None, True),
        ("theirs", "their row", False),
    ]


@pytest.mark.parametrize(
    ("rows", "name", "words"),
    [
        ({}, "owm", r"no thing 'owm': did you mean 'own'\? \(a package adds one with an entry point"),
        ({}, "something", r"no thing 'something': there are own"),
        ({"odd": "elsewhere_things:NUMBER"}, "odd", "elsewhere_things:NUMBER is a int, and must be a str"),
        ({"odd": "elsewhere_things:MISSING"}, "odd", "cannot be loaded .* AttributeError"),
        ({"odd": "no_such_module:ROW"}, "odd", "cannot be loaded .* ModuleNotFoundError"),
    ],
)
def test_what_cannot_be_chosen_is_refused_in_one_line(
    rows: dict[str, str], name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other(tmp_path, monkeypatch, rows)
    with pytest.raises(TableError, match=words) as caught:
        TABLE.get(name)
    assert "\n" not in str(caught.value)


def test_a_name_that_two_packages_have_belongs_to_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other(tmp_path, monkeypatch, {"same": "elsewhere_things:THING", "own": "elsewhere_things:THING"})
    other(tmp_path, monkeypatch, {"same": "nowhere_things:THING"}, "nowhere")
    with pytest.raises(TableError, match="two things have the name 'same', of the packages elsewhere, nowhere"):
        TABLE.get("same")
    assert TABLE.get("own") == "own row"
    errors = [row.error for row in TABLE.rows() if row.error]
    assert any("thing 'own' of package 'elsewhere' has the name of one of ours" in error for error in errors)


@dataclass(frozen=True)
class Options:
    address: str = option("address of the controller")
    port: int = option("TCP port", 502, low=1, high=65535)
    rate: float = option("set-points per second, Hz", 100.0, low=50.0, high=250.0)
    grips: bool = option("it has a gripper", True)
    unit: str = option("of the gripper", "mm", choices=("mm", "pulses"))


def test_options_are_read_with_their_defaults() -> None:
    found = read_options(Options, {"address": "10.0.0.5", "rate": 200}, "driver 'x'")
    assert found == Options("10.0.0.5", 502, 200.0, True, "mm")
    assert type(found.rate) is float
    assert read_options(NoOptions, {}, "driver 'x'") == NoOptions()
    assert [rule.name for rule in rules_of(Options)] == ["address", "port", "rate", "grips", "unit"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, r"^driver 'x': option 'address' is missing - address of the controller$"),
        ({"adress": "a"}, "there is no option 'adress': did you mean 'address'"),
        ({"address": "a", "color": 1}, "there is no option 'color': it may have address, port, rate, grips, unit"),
        ({"address": 5}, "option 'address' is 5: it must be a text - address of the controller: write '5' in quotes"),
        ({"address": "a", "port": "502"}, "it must be a whole number - TCP port: write it without quotes"),
        ({"address": "a", "port": True}, "option 'port' is True: it must be a whole number"),
        ({"address": "a", "port": 0}, r"option 'port' is 0: allowed is 1\.\.65535 - TCP port"),
        ({"address": "a", "rate": float("nan")}, "option 'rate' is nan: it must be finite"),
        ({"address": "a", "rate": 251}, r"allowed is 50\.\.250"),
        ({"address": "a", "unit": "inch"}, "allowed is one of mm, pulses"),
    ],
)
def test_options_that_a_row_cannot_have_are_refused_with_what_it_can(given: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        read_options(Options, given, "driver 'x'")


@dataclass(frozen=True)
class Switch:
    topic: str = option("topic of the switch", "")
    service: str = option("service of the switch", "")

    def __post_init__(self) -> None:
        if self.topic and self.service:
            raise OptionError("name its topic or its service")


@dataclass(frozen=True)
class Nested:
    switch: Switch = option("of the motors")
    names: tuple[str, ...] = option("of the joints", ())
    gains: tuple[float, ...] = option("of the joints", (1.0,))


def test_an_option_may_be_a_list_or_have_options_of_its_own() -> None:
    found = read_options(Nested, {"switch": {"topic": "/on"}, "names": ["a", "b"], "gains": [2, 0.5]}, "driver 'x'")
    assert found == Nested(Switch("/on"), ("a", "b"), (2.0, 0.5))
    assert read_options(Nested, {"switch": {}}, "driver 'x'") == Nested(Switch())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "driver 'x': option 'switch' is missing - of the motors"),
        ({"switch": "/on"}, "option 'switch' is '/on': it must be a mapping with topic, service"),
        ({"switch": {"topik": "/on"}}, "option 'switch': there is no option 'topik': did you mean 'topic'"),
        ({"switch": {"topic": "/a", "service": "/b"}}, "option 'switch': name its topic or its service"),
        ({"switch": {}, "names": "a"}, "option 'names' is 'a': it must be a list of texts - of the joints"),
        ({"switch": {}, "names": ["a", 7]}, "option 'names' is 7: it must be a text"),
        ({"switch": {}, "gains": [10**400]}, "option 'gains' is inf: it must be finite"),
    ],
)
def test_options_within_options_are_refused_with_the_place(given: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        read_options(Nested, given, "driver 'x'")


@dataclass(frozen=True)
class Row:
    options: type[Any]


ROW = Row(Options)


class ThingError(Exception):
    pass


def test_a_table_reads_the_options_of_a_row_and_refuses_them_with_one_error() -> None:
    rows = {"own": f"{__name__}:ROW"}
    plain, refusing = OpenTable(GROUP, "thing", Row, rows), OpenTable(GROUP, "thing", Row, rows, refusal=ThingError)
    given, shared = {"address": "a", "port": 9}, {"port": 7, "grips": False, "threads": 2}
    assert plain.options_of("own", given, shared) == Options("a", 9, 100.0, False)
    with pytest.raises(OptionError, match=r"^thing 'own': option 'address' is missing"):
        plain.options_of("own")
    with pytest.raises(OptionError, match=r"^the desk: option 'address' is missing"):
        plain.options_of("own", where="the desk")
    with pytest.raises(TableError, match="no thing 'owm': did you mean 'own'"):
        plain.options_of("owm")
    for name, words in (("own", "^thing 'own': option 'address' is missing"), ("owm", "no thing 'owm'")):
        with pytest.raises(ThingError, match=words):
            refusing.options_of(name)


def test_a_field_that_says_nothing_of_itself_is_refused() -> None:
    @dataclass(frozen=True)
    class Bare:
        items: list[int] = field(default_factory=list)

    with pytest.raises(TypeError, match=r"Bare\.items: make it with option\(\)"):
        rules_of(Bare)


@pytest.mark.parametrize(
    ("text", "options"), [("", {}), ("{port: 7, unit: mm}", {"port": 7, "unit": "mm"}), ("a: false", {"a": False})]
)
def test_options_are_read_from_a_text(text: str, options: dict[str, object]) -> None:
    assert options_in(text, "parameter 'options'") == options


@pytest.mark.parametrize(
    ("text", "words"), [("7", r"write options as \{name: value\}"), ("{a", "parameter 'options' is '{a': ")]
)
def test_a_text_without_options_is_refused(text: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        options_in(text, "parameter 'options'")


def test_a_row_takes_those_parameters_that_are_its_options() -> None:
    assert known_options(Options, {"port": 7, "threads": 2}) == {"port": 7}
    assert known_options(NoOptions, {"port": 7}) == {}


def test_the_value_of_a_secret_option_is_not_shown() -> None:
    @dataclass(frozen=True)
    class Secret:
        token: str = option("of the server", "", secret=True)

    assert "wrong" not in repr(Secret("wrong"))


@pytest.mark.parametrize(("table", "parameters"), [(BACKENDS, PolicyParameters), (SELECTORS, SelectorParameters)])
def test_an_option_has_the_default_of_the_parameter_that_fills_it(table: OpenTable[Any], parameters: type) -> None:
    """A parameter with its default is not passed on, so that another package's option may have one of its own."""
    usual = {item.name: item.default for item in fields(parameters)}
    for each in table.rows():
        assert each.row is not None, each.error
        rules = [rule for rule in rules_of(each.row.options) if rule.name in usual]
        assert {rule.name: rule.default for rule in rules} == {rule.name: usual[rule.name] for rule in rules}
