"""Rules on data sets that others made, which hold less than ours."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from data_sets import numbers, write_data_set

from kc_vla.cli.learning import main
from kc_vla.datasets.lerobot.layout import ACTION, INFO, JOINT_POSITIONS, JOINT_VELOCITIES, KEYFRAMES, STATE
from kc_vla.datasets.lerobot.v2_writer import V2Writer
from kc_vla.datasets.lerobot.v3_writer import V3Writer
from kc_vla.learning.selector.recorded_signals import recorded_signals
from kc_vla.learning.selector.recordings import load_recordings


def data_set(folder: Path, task: str, without: Sequence[str], **changed: object) -> Path:
    """A data set `without` some columns, and with other facts in its `info.json`."""
    keyframes = (0, 6, 12, 18)
    made = write_data_set(folder / task, (30, 24), keyframes, task)
    for path in made.rglob("*.parquet"):
        pq.write_table(pq.read_table(path).drop_columns(list(without)), path)
    info = json.loads((made / INFO).read_text())
    info["features"] = {key: about for key, about in info["features"].items() if key not in without}
    (made / INFO).write_text(json.dumps({**info, **changed}))
    return made


NUMBERS = (STATE.key, ACTION.key, JOINT_POSITIONS.key, JOINT_VELOCITIES.key)


@pytest.mark.parametrize("without", [(JOINT_POSITIONS.key,), NUMBERS])
def test_counting_needs_the_pictures_alone(tmp_path, capsys, without):
    data = data_set(tmp_path, "counting", without)
    assert main(["eval", "rules", f"--data={data}"]) == 0
    assert "| counting | brightness_jump |" in capsys.readouterr().out
    assert main(["annotate", "rules", f"--data={data}", f"--output={tmp_path / 'rules'}"]) == 0
    assert (tmp_path / "rules" / "counting.jsonl").exists()


def test_both_versions_of_data_sets_are_annotated_alike(tmp_path, capsys):
    told = []
    for writer_of in (V2Writer, V3Writer):
        data = tmp_path / writer_of.__name__ / "spatial"
        write_data_set(data, (30, 24), (0, 6, 12, 18), "spatial", writer_of=writer_of)
        output = data.parent / "rules"
        assert main(["eval", "rules", f"--data={data}"]) == 0
        assert main(["annotate", "rules", f"--data={data}", f"--output={output}"]) == 0
        told.append((capsys.readouterr().out.replace(str(output), ""), (output / "spatial.jsonl").read_text()))
    assert told[0] == told[1]


def test_of_a_known_robot_the_state_tells_the_opening_of_the_gripper(tmp_path):
    data = data_set(tmp_path, "spatial", (JOINT_POSITIONS.key, JOINT_VELOCITIES.key))
    recording = load_recordings(data)[1]
    seen = recorded_signals(recording, ("gripper", "height"))
    share = [numbers(1, frame)[STATE.key][-1] for frame in range(24)]
    np.testing.assert_allclose([s.gripper for s in seen], 0.08 * np.array(share), rtol=1e-5)
    assert main(["eval", "rules", f"--data={data}"]) == 0


@pytest.mark.parametrize(
    ("without", "robot", "told"),
    [
        (
            (JOINT_POSITIONS.key,),
            "unheard-of",
            "need the gripper's opening, which is known where observation.joint_pos",
        ),
        (
            (STATE.key,),
            "panda",
            "need the tool's place, which is known where observation.state or observation.tool_pose",
        ),
    ],
)
def test_what_a_rule_lacks_is_told_in_a_line(tmp_path, capsys, without, robot, told):
    data = data_set(tmp_path, "spatial", without, robot_type=robot)
    for verb in ("eval", "annotate"):
        assert main([verb, "rules", f"--data={data}", f"--output={tmp_path / 'out'}"]) == 1
        error = capsys.readouterr().err.strip().splitlines()[-1]
        assert error.startswith(f"kc-vla {verb}: spatial episode 0: the rules of its task {told}")
        assert "by hand (kc-vla annotate page)" in error


def test_no_detection_is_no_precision_of_100(tmp_path, capsys):
    data = data_set(tmp_path, "spatial", ())  # a gripper that is never closed around anything
    assert main(["eval", "rules", f"--data={data}"]) == 0
    assert "| spatial | lift_off | - | 0.0 | 0.0 | - | 2 |" in capsys.readouterr().out


def test_episodes_that_nobody_has_marked_yet_are_marked(tmp_path, capsys):
    data = write_data_set(tmp_path / "counting", (30, 24), (0, 6, 12, 18), "counting")
    (data / KEYFRAMES).unlink()
    other = write_data_set(tmp_path / "soup", (10, 10), (0, 4), "counting")
    for path in (other / "meta").glob("*.jsonl"):
        path.write_text(path.read_text().replace('"counting"', '"soup"').replace("Wait for", "Stir for"))
    assert main(["annotate", "rules", f"--data={tmp_path}", f"--output={tmp_path / 'rules'}"]) == 0
    rows = [json.loads(line) for line in (tmp_path / "rules" / "counting.jsonl").read_text().splitlines()]
    assert {row["episode"] for row in rows} == {0, 1}
    said = capsys.readouterr().err
    assert "in no task table, so it has no rules: its episodes are left out" in said
    assert "Stir for" in said
