"""What a launch gives to many nodes is ignored by those that have no such parameter; what is meant for one is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kc_vla.ros.given_parameters import for_many

SECTION = "{}: {{ros__parameters: {{robot_radius: 0.3, nested: {{deep: 1}}}}}}"


@pytest.mark.parametrize(
    ("key", "many"),
    [
        ("'/**'", True),
        ("'/r1/**'", True),
        ("recorder", False),
        ("/r1/recorder", False),
        ("'/**/recorder'", False),
        ("other", True),
    ],
)
def test_a_file_means_the_node_that_it_names(tmp_path: Path, key: str, many: bool) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(SECTION.format(key))
    words = ["recorder", "--ros-args", "--params-file", str(file)]
    assert for_many(words, "recorder", by_launch=True) == ({"robot_radius", "nested.deep"} if many else set())


@pytest.mark.parametrize(
    ("words", "by_launch", "many"),
    [
        (["-p", "robot_radius:=0.3"], True, True),
        (["-p", "robot_radius:=0.3"], False, False),
        (["-p", "recorder:robot_radius:=0.3"], True, False),
        (["-p", "robot_radius:=0.3", "-p", "recorder:robot_radius:=0.3"], True, False),
    ],
)
def test_a_command_line_means_its_node_unless_a_launch_file_has_made_it(
    words: list[str], by_launch: bool, many: bool
) -> None:
    assert for_many(["recorder", "--ros-args", *words], "recorder", by_launch) == ({"robot_radius"} if many else set())
    assert for_many(["recorder", *words], "recorder", by_launch) == set()
