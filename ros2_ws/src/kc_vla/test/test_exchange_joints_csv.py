import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.joints_csv import parse_joints, read_joints

NUMBERS = st.floats(-6.3, 6.3).map(float)
NAMES = st.text(st.characters(categories=["L"]), min_size=1, max_size=8).filter(
    lambda name: name.lower() not in ("nan", "inf", "infinity")
)


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.data())
def test_what_was_written_is_read(names: list[str], data: st.DataObject) -> None:
    times = data.draw(st.lists(st.floats(0, 1e4), min_size=1, max_size=8, unique=True).map(sorted))
    rows = [[time, *data.draw(st.lists(NUMBERS, min_size=len(names), max_size=len(names)))] for time in times]
    text = "\n".join(",".join(map(str, row)) for row in [["time", *names], *map(lambda row: map(repr, row), rows)])
    table = parse_joints(text + "\n", "joints.csv")
    assert table.names == tuple(names)
    np.testing.assert_array_equal(table.times_s, times)
    np.testing.assert_array_equal(table.positions, np.array(rows)[:, 1:])


@given(st.text(max_size=200) | st.text('0123456789,.-\n"etime j1', max_size=200))
def test_any_text_is_a_table_or_told_in_one_line(text: str) -> None:
    try:
        table, told = parse_joints(text, "joints.csv"), ""
    except ExchangeError as error:
        table, told = None, str(error)
    if table is None:
        assert told.startswith("joints.csv")
        assert "\n" not in told
        return
    assert table.positions.shape == (len(table.times_s), len(table.names))
    assert np.isfinite(table.positions).all()
    assert (np.diff(table.times_s) > 0).all()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0,1,2\n", r"line 1: a header row is wanted first: time, then the names of the joints"),
        ("time;j1\n0;1\n", r"line 1: at least two columns are wanted, with commas between"),
        ("time,j1,j1\n0,1,2\n", r"line 1: each joint needs a name of its own"),
        ("time,j1,\n0,1,2\n", r"line 1: each joint needs a name of its own"),
        ("time,j1\n0,1\n0.1\n", r"line 3: 1 columns, the header has 2"),
        ("time,j1\n0,one\n", r"line 2, column 2: 'one' is no finite number"),
        ("time,j1\n0,nan\n", r"line 2, column 2: 'nan' is no finite number"),
        ("time,j1\n1,0\n\n1,0\n", r"line 4: times must ascend, 1 s follows 1 s"),
        ("", r"has no header row"),
        ("time,j1\n", r"has no rows"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, told: str) -> None:
    with pytest.raises(ExchangeError, match=told):
        parse_joints(text, "joints.csv")


def test_a_file_of_a_spreadsheet_is_read(tmp_path) -> None:
    (tmp_path / "joints.csv").write_bytes("\ufefftime,joint1\r\n0,1.5\r\n".encode())
    assert read_joints(tmp_path / "joints.csv").names == ("joint1",)
    with pytest.raises(ExchangeError, match="cannot be read"):
        read_joints(tmp_path / "none.csv")


def test_degrees_and_millimetres_are_told_from_what_is_wanted() -> None:
    with pytest.raises(ExchangeError, match="elbow goes to 30: rad and m are wanted, not degrees or mm"):
        parse_joints("time,shoulder,elbow\n0,1.2,-30\n", "j.csv")
