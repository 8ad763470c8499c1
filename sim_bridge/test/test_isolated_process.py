"""A script in a process of its own: arrays there and back, and one line for whatever goes wrong."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from kc_vla_sim.isolated_process import Apart, ApartError, packed, unpacked

SCRIPT = """
import os, signal, sys, time
import numpy as np

print("this is no answer")

def answer(do="double", **given):
    do = str(do)
    if do == "double":
        return {name: 2 * value for name, value in given.items()}
    if do == "fail":
        raise ValueError("no way\\nto the goal")
    if do == "die":
        os.kill(os.getpid(), signal.SIGUSR1)
    if do == "exit":
        os._exit(7)
    if do == "sleep":
        time.sleep(60)
    if do == "close":
        os.write(1, b"not on the pipe")
        return {"modules": [name for name in sys.modules if name.startswith("kc_vla")] or "none"}
    if do == "objects":
        return {"found": np.array([{}], object)}
    return do
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("apart") / "planner.py"
    made.write_text(SCRIPT)
    return made


@pytest.fixture(scope="module")
def doubles(script: Path) -> Iterator[Apart]:
    with Apart(script) as found:
        yield found


def test_arrays_come_back_as_the_script_returns_them(doubles: Apart) -> None:
    start, names = np.arange(12.0).reshape(3, 4), np.array([1, 2], np.int16)
    found = doubles(start=start, names=names)
    assert found["start"].tolist() == (2 * start).tolist()
    assert found["names"].dtype == np.int16
    large = np.ones((2_000, 2_000))
    assert doubles(large=large)["large"].sum() == 2 * large.size
    assert doubles() == {}


def test_nothing_of_the_stack_is_imported_there_and_what_it_prints_is_no_answer(doubles: Apart) -> None:
    assert doubles(do="close")["modules"] == "none"


@pytest.mark.parametrize(
    ("do", "told"),
    [
        ("fail", "planner.py: ValueError: no way to the goal"),
        ("objects", "planner.py: TypeError: 'found' of what it returns is no array of numbers or text"),
        ("text", "planner.py: TypeError: 'answer' returns str, not a dictionary of arrays"),
    ],
)
def test_an_error_of_the_script_is_one_line_and_the_next_call_is_answered(doubles: Apart, do: str, told: str) -> None:
    with pytest.raises(ApartError, match=told) as raised:
        doubles(do=do)
    assert "\n" not in str(raised.value)
    assert doubles(one=1)["one"] == 2


def test_an_object_is_not_sent(doubles: Apart) -> None:
    with pytest.raises(TypeError, match="'goal' is no array of numbers or text"):
        doubles(goal={"x": 1})


@pytest.mark.parametrize(
    ("do", "told"),
    [
        ("die", r"the process of .*planner.py died by SIGUSR1 \(User defined signal 1\)"),
        ("exit", "the process of .*planner.py ended with exit status 7"),
        ("sleep", "planner.py has not answered for 0.5 s, and was ended: give it more deadline"),
    ],
)
def test_a_process_that_ends_or_hangs_is_told_of_and_gone(script: Path, do: str, told: str) -> None:
    apart = Apart(script, deadline=0.5)
    pid = apart._process.pid
    began = time.monotonic()
    with pytest.raises(ApartError, match=told):
        apart(do=do)
    assert time.monotonic() - began < 50
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    with pytest.raises((ApartError, ValueError)):
        apart(one=1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import no_such_planner", "ModuleNotFoundError: No module named 'no_such_planner'"),
        ("def answers(): ...", "NameError: it has no function 'answer'"),
    ],
)
def test_a_script_that_cannot_begin_says_why_at_the_first_call(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    with Apart(tmp_path / "bad.py") as apart, pytest.raises(ApartError, match=told):
        apart(one=1)


def test_what_is_not_there_is_told_at_once(tmp_path: Path, script: Path) -> None:
    with pytest.raises(ApartError, match="there is no script"):
        Apart(tmp_path / "none.py")
    with pytest.raises(ApartError, match="does not start: No such file"):
        Apart(script, tmp_path / "python")


def test_it_ends_with_the_last_that_has_it(script: Path) -> None:
    apart = Apart(script, python=sys.executable)
    process = psutil.Process(apart._process.pid)
    del apart
    assert process.wait(20) is not None or not process.is_running()


NUMBERS = arrays.arrays(
    st.sampled_from([np.float32, np.float64, np.int64, np.uint8, np.bool_]), arrays.array_shapes(min_dims=0, max_side=4)
)


@given(st.dictionaries(st.text("abcdef_", min_size=1, max_size=6), NUMBERS, max_size=4))
def test_whatever_arrays_are_packed_come_out_equal(given_: dict[str, np.ndarray]) -> None:
    found = unpacked(packed(given_), "it")
    assert found.keys() == given_.keys()
    for name, value in given_.items():
        assert found[name].dtype == value.dtype
        assert found[name].shape == value.shape
        assert found[name].tobytes() == value.tobytes()


@given(st.binary(max_size=200), st.integers(0, 400), st.integers(1, 255))
def test_bytes_that_are_no_arrays_are_refused_in_one_line(garbage: bytes, place: int, change: int) -> None:
    whole = bytearray(packed({"path": np.arange(6.0)}))
    whole[place % len(whole)] ^= change
    for message in (garbage, bytes(whole)):
        told = ""
        try:
            found = unpacked(message, "planner.py")
        except ApartError as error:
            found, told = {}, str(error)
        assert told == "" or told.startswith("planner.py answers with something that is no arrays")
        assert all(not value.dtype.hasobject for value in found.values())
