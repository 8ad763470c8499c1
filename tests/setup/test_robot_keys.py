"""The page on robot files names the keys that the reader knows."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_names_the_keys_that_there_are() -> None:
    spec = importlib.util.spec_from_file_location("robot_keys", ROOT / "docs/robot_keys.py")
    assert spec is not None
    assert spec.loader is not None
    keys = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(keys)
    page = keys.PAGE.read_text()
    assert keys.with_keys(page) == page, "run python docs/robot_keys.py"
