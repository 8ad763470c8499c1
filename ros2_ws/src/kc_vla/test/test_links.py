"""An episode begins when all who listen have been found, and is not held up by those who never will be."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from kc_vla.ros.links import PATIENCE_S, Links

COMMAND = "/arm/command"


class Graph:
    """A node that sees who is there, and what it warned of."""

    def __init__(self) -> None:
        self.readers: Counter[str] = Counter()
        self.writers: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.now = 100.0
        self.hear: Callable[[DiagnosticArray], None] = lambda message: None
        self.links = Links(self, ["arm/command"], lambda: self.now)

    def resolve_topic_name(self, topic: str) -> str:
        return f"/{topic}"

    def subscribe(self, kind: type, topic: str, callback: Callable[..., None], profile: Any) -> None:
        self.hear = callback

    def get_namespace(self) -> str:
        return "/"

    def count_subscribers(self, topic: str) -> int:
        return self.readers[topic]

    def count_publishers(self, topic: str) -> int:
        return self.writers[topic]

    def get_logger(self) -> "Graph":
        return self

    def warning(self, text: str) -> None:
        self.warnings.append(text)

    def tells(self, name: str, **values: object) -> None:
        pairs = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
        self.hear(DiagnosticArray(status=[DiagnosticStatus(name=name, values=pairs)]))

    def missing(self) -> list[str]:
        return self.links.missing(["arm_controller", "recorder"])


@pytest.fixture
def graph() -> Graph:
    graph = Graph()
    graph.readers[COMMAND], graph.writers[COMMAND] = 2, 1
    return graph


def test_nobody_is_missing_once_both_ends_have_found_each_other(graph: Graph) -> None:
    assert graph.missing() == ["arm_controller's diagnostics", "recorder's diagnostics"]
    graph.tells("arm_controller", **{f"readers{COMMAND}": 1, "mode": "lockstep"})
    graph.tells("recorder", **{f"writers{COMMAND}": 0})
    assert graph.missing() == [f"arm_controller's {COMMAND}", f"recorder's {COMMAND}"]
    graph.tells("arm_controller", **{f"readers{COMMAND}": 2})
    assert graph.missing() == [f"recorder's {COMMAND}"]
    graph.tells("recorder", **{f"writers{COMMAND}": 1})
    assert graph.missing() == []


def test_one_who_comes_later_is_waited_for_too(graph: Graph) -> None:
    graph.tells("arm_controller", **{f"readers{COMMAND}": 2})
    graph.tells("recorder", **{f"writers{COMMAND}": 1})
    assert graph.missing() == []
    graph.readers[COMMAND] = 3
    assert graph.missing() == [f"arm_controller's {COMMAND}"]


def test_a_listener_that_can_never_be_found_holds_nothing_up_for_long_and_only_once(graph: Graph) -> None:
    graph.tells("arm_controller", **{f"readers{COMMAND}": 1})
    graph.tells("recorder", **{f"writers{COMMAND}": 1})
    assert graph.missing() == [f"arm_controller's {COMMAND}"]
    graph.now += PATIENCE_S
    assert graph.missing() == []
    assert graph.missing() == []
    assert len(graph.warnings) == 1
    assert f"arm_controller's {COMMAND}" in graph.warnings[0]


def test_what_others_write_into_their_diagnostics_disturbs_nothing(graph: Graph) -> None:
    graph.tells("arm_controller", **{f"readers{COMMAND}": "many", f"writers{COMMAND}": -1})
    graph.tells("recorder")
    graph.tells("", **{"readers": ""})
    assert graph.missing() == []
