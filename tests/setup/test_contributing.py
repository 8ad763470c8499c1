"""The checks before a commit are those of the tests."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def test_the_hooks_fetch_nothing_and_run_what_the_tests_run() -> None:
    repositories = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"]
    checks = (ROOT / "tests/run").read_text()
    hooks = repositories[0]["hooks"]
    for hook in hooks:
        assert hook["language"] == "system"
        assert "source ./env.sh && " + hook["name"] in hook["entry"]
        assert re.search(rf"^{hook['name']}\b", checks, re.MULTILINE), f"tests/run does not run {hook['name']}"
    assert {"ruff format", "ruff check", "mypy"} == {hook["name"] for hook in hooks}
