"""The workflows: what they run of others is fixed, and nothing is published without a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text())["jobs"]
    return found


def used(job: dict[str, Any]) -> Iterator[str]:
    """The actions and workflows that a job uses."""
    yield from (part["uses"] for part in (job, *job.get("steps", ())) if "uses" in part)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
class TestWorkflow:
    def test_an_action_is_named_by_its_commit(self, path: Path) -> None:
        for job in jobs(path).values():
            for name in used(job):
                assert (ROOT / name).is_file() if name.startswith("./") else re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)

    def test_a_script_of_ours_is_there(self, path: Path) -> None:
        for job in jobs(path).values():
            for step in job.get("steps", ()):
                for script in re.findall(r"^(?:\./)?(setup\.sh|\.ci/\w+|docs/site/build)\b", step.get("run", ""), re.M):
                    assert (ROOT / script).is_file()

    def test_a_job_ends_some_time(self, path: Path) -> None:
        assert all("timeout-minutes" in job or "uses" in job for job in jobs(path).values())


def test_a_release_is_published_by_hand_alone_and_after_all_tests() -> None:
    of_release = jobs(ROOT / ".github/workflows/release.yml")
    (publish,) = (job for job in of_release.values() if any("pypi-publish" in name for name in used(job)))
    assert publish["environment"]
    assert publish["needs"] == "release"
    assert set(of_release["release"]["needs"]) == {"ci", "build"}
    writers = [name for name, job in of_release.items() if "write" in job.get("permissions", {}).values()]
    assert writers == ["release", "publish"]
