"""The page tells of each source and each policy that there is."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_names_what_the_tables_name() -> None:
    spec = importlib.util.spec_from_file_location("choices", ROOT / "docs/choices.py")
    assert spec is not None
    assert spec.loader is not None
    choices = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(choices)
    page = choices.PAGE.read_text()
    assert choices.with_choices(page) == page, "run python docs/choices.py"
