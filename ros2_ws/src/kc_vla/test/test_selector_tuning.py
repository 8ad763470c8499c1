"""New thresholds for a selector: what is recommended helps, and where nothing does, it is said why."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.cli.learning import main
from kc_vla.learning.selector.tuning import Tuned, TuningError, require_help, tuned_on

PHASES, FRAMES = 3, 90
TRUTH = (0, 30, 60)


def scores(*peaks: tuple[int, int, float], ground: float = 0.0) -> np.ndarray:
    """Scores (T, P) of an episode: `ground`, and peaks of phase, frame and height."""
    found = np.full((FRAMES, PHASES), ground, np.float32)
    for phase, frame, height in peaks:
        found[frame - 1 : frame + 2, phase] = height
    return found


def test_a_threshold_that_finds_more_is_recommended() -> None:
    tuned = tuned_on([(scores((1, 30, 0.4), (2, 60, 0.4)), TRUTH)], PHASES, 0.9)
    assert (tuned.f1_before, tuned.f1_after, tuned.nothing) == (0.0, 1.0, "")
    assert 0.0 < tuned.after < 0.4


@pytest.mark.parametrize(
    ("episode", "why"),
    [
        ((scores(), TRUTH), "no frame has a score above 0.000, it does not recognize these keyframes"),
        ((scores(ground=0.004), TRUTH), "no frame has a score above 0.004"),
        ((scores((1, 80, 0.7)), TRUTH), "its scores reach 0.70, but never within 10 frames of a marked keyframe"),
        ((scores((1, 30, 0.7)), (0,)), "none has a marked keyframe after frame 0"),
    ],
)
def test_where_no_threshold_finds_a_keyframe_the_one_before_stays_and_it_is_said_why(episode, why) -> None:
    tuned = tuned_on([episode], PHASES, 0.5)
    assert tuned.before == tuned.after == 0.5
    assert tuned.f1_before == tuned.f1_after == 0.0
    assert why in tuned.nothing
    assert tuned.nothing.startswith("F1 is 0 with each threshold on 1 episodes")
    with pytest.raises(TuningError, match="no threshold helps, and no model is entered: pour: F1 is 0") as raised:
        require_help({"pour": tuned}, "mine")
    assert "kc-vla train selector --init mine" in str(raised.value)
    assert "\n" not in str(raised.value)
    require_help({"pour": tuned, "wipe": Tuned(0.5, 0.3, 0.2, 0.4, 3)}, "mine")  # one task is helped


PEAKS = st.lists(st.tuples(st.integers(1, PHASES - 1), st.integers(1, FRAMES - 2), st.floats(0, 1)), max_size=4)


@given(st.lists(PEAKS, min_size=1, max_size=3), st.floats(0.01, 0.99), st.floats(0, 0.3))
def test_what_is_recommended_is_never_worse_and_never_changes_nothing_for_nothing(peaks, before, ground) -> None:
    tuned = tuned_on([(scores(*each, ground=ground), TRUTH) for each in peaks], PHASES, before)
    assert tuned.f1_after >= tuned.f1_before
    if tuned.f1_after == 0:
        assert tuned.after == before
        assert tuned.nothing
    else:
        assert tuned.nothing == ""


@pytest.mark.parametrize("what", ["selector", "rules", "events"])
@pytest.mark.parametrize("option", ["-o", "--output"])
def test_the_folder_of_an_evaluation_is_named_alike(what, option, tmp_path, capsys) -> None:
    assert main(["eval", what, "--data", str(tmp_path / "none"), option, str(tmp_path / "tables")]) == 1
    assert "unrecognized" not in capsys.readouterr().err


def test_the_table_of_rules_is_written_where_it_is_asked_for(tmp_path, capsys) -> None:
    from lamp_episodes import write_lamp_data

    write_lamp_data(tmp_path / "data", 1, 3, ("counting",))
    assert main(["eval", "rules", "--data", str(tmp_path / "data"), "-o", str(tmp_path / "tables")]) == 0
    table = (tmp_path / "tables" / "rules.md").read_text()
    assert "| counting |" in table
    assert table.strip() in capsys.readouterr().out
