import json

from kc_vla.keyframes.metrics import Counts
from kc_vla.learning.selector.evaluation import TaskResult
from kc_vla.learning.selector.tables import markdown, percent, with_average, write_tables


def test_a_task_without_detections_has_a_dash_and_null_for_its_precision(tmp_path):
    blind = TaskResult(Counts(0, 0, 4), Counts(0, 0, 4), [], 0, 1)
    seeing = TaskResult(Counts(3, 1, 1), Counts(4, 0, 0), [2, 4], 0, 1)
    figures = with_average({"counting": blind, "spatial": seeing})
    tables = {"selector": {"as recorded": figures}}
    table = markdown(tables)
    assert "| counting | 0.0 | - | 0.0 | - | 100.0 | 0.0 | 0.0 | - | 1 |" in table
    assert "| spatial | 75.0 | 75.0 | 75.0 | 25.0 | 25.0 | 100.0 | 0.0 | +3.0 | 1 |" in table
    assert "| average | 37.5 | - | 37.5 | - | 62.5 | 50.0 | 0.0 | - | 2 |" in table
    write_tables(tables, tmp_path)
    written = json.loads((tmp_path / "metrics.json").read_text())["selector"]["as recorded"]["counting"]
    assert written["free_precision"] is written["free_fpr"] is written["forced_precision"] is None
    assert written["free_recall"] == 0.0


def test_a_share_is_told_in_percent():
    assert (percent(0.982), percent(float("nan"))) == ("98.2", "-")
