"""`kc-vla eval events`: how many true keyframes events find, on data sets of known and unknown tasks."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data_sets import write_data_set

from kc_vla.cli.learning import main
from kc_vla.datasets.lerobot.layout import INFO, JOINT_POSITIONS, STATE
from kc_vla.datasets.lerobot.v2_writer import V2Writer
from kc_vla.datasets.lerobot.v3_writer import V3Writer
from kc_vla.learning.selector.event_evaluation import evenly

KEYFRAMES = (0, 6, 12, 18)


@pytest.mark.parametrize("writer_of", [V2Writer, V3Writer])
def test_recall_and_precision_stand_beside_what_chance_finds(tmp_path, capsys, writer_of):
    data = write_data_set(tmp_path / "counting", (30, 24), KEYFRAMES, "counting", writer_of=writer_of)
    assert main(["eval", "events", f"--data={data}"]) == 0
    head, _, row = capsys.readouterr().out.strip().splitlines()
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    names = [cell.strip() for cell in head.strip("|").split("|")]
    assert names[:4] == ["task", "recall, % (95 %)", "as many, evenly spaced", "precision, % (95 %)"]
    assert cells[0] == "counting"
    assert cells[-2:] == ["3.0", "2"]
    assert " to " in cells[1]


def test_a_task_that_is_in_no_table_is_measured_too(tmp_path, capsys):
    data = write_data_set(tmp_path / "soup", (30, 24), KEYFRAMES, "counting")
    for path in (data / "meta").glob("*.jsonl"):
        path.write_text(path.read_text().replace('"counting"', '"soup"').replace("Wait for", "Stir for"))
    assert main(["eval", "events", f"--data={data}"]) == 0
    assert capsys.readouterr().out.strip().splitlines()[-1].endswith("| 3.0 | 2 |")


def test_a_state_that_is_not_finite_is_told_in_a_line(tmp_path, capsys):
    data = write_data_set(tmp_path / "counting", (30, 24), KEYFRAMES, "counting")
    path = sorted(data.rglob("*.parquet"))[0]
    table = pq.read_table(path)
    at = table.column_names.index(STATE.key)
    values = table.column(at).to_pylist()
    values[3][0] = values[4][0] = float("nan")
    pq.write_table(table.set_column(at, table.field(at), pa.array(values, table.field(at).type)), path)
    assert main(["eval", "events", f"--data={data}"]) == 1
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert told.endswith("episode 0, column observation.state, frame 3: a number is missing or not finite")


def test_what_events_lack_is_told_in_a_line(tmp_path, capsys):
    data = write_data_set(tmp_path / "counting", (30, 24), KEYFRAMES, "counting")
    for path in data.rglob("*.parquet"):
        pq.write_table(pq.read_table(path).drop_columns([JOINT_POSITIONS.key]), path)
    info = json.loads((data / INFO).read_text())
    del info["features"][JOINT_POSITIONS.key]
    (data / INFO).write_text(json.dumps({**info, "robot_type": "unheard-of"}))
    assert main(["eval", "events", f"--data={data}"]) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("kc-vla eval: counting episode 0: events need the gripper's opening")


@pytest.mark.parametrize(("number", "length"), [(0, 10), (1, 10), (4, 100)])
def test_evenly_spaced_frames_leave_equal_gaps(number, length):
    gaps = np.diff([0, *evenly(number, length), length])
    assert len(gaps) == number + 1
    assert gaps.max() - gaps.min() <= 1
