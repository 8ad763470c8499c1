"""The command that prints how often an expert succeeds."""

from __future__ import annotations

import argparse

import pytest

from kc_vla_sim.check import main, seed_range


def test_a_range_of_seeds_is_read() -> None:
    assert seed_range("1000:1003") == range(1000, 1003)
    assert seed_range("7") == range(7, 8)


@pytest.mark.parametrize("text", ["", "a:b", "5:5", "9:3", "-1:4", "1:2:3"])
def test_a_bad_range_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="first:end"):
        seed_range(text)


def test_the_table_counts_successes_and_the_exit_code_says_whether_all_did(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--seeds", "40:42", "--mode", "chunk", "--latency", "1"]) == 0
    printed = capsys.readouterr().out
    assert "counting, chunk mode, latency 1: 2/2 succeeded" in printed
    assert "    2  success" in printed
