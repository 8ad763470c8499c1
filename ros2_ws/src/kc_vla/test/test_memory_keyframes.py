"""Keyframes that a store is linked with: bounded, whole after a restart, and joined with detections by time."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import shown_keyframes
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from shown_keyframes import SECOND, cube, keyframe

from kc_vla.memory.episodic.joining import MOST_RECENT, MOST_WAITING, DetectedScene, KeyframeJoin
from kc_vla.memory.episodic.linked import (
    MOST_LINKED,
    MOST_SHOWN,
    NOTHING_NEAR,
    KeyframeLinkError,
    LinkedKeyframe,
)
from kc_vla.memory.live_scene import LiveScene
from kc_vla.memory.long_term import store_keyframes
from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.long_term.store_opening import DamageError
from kc_vla.memory.long_term.store_schema import STEPS, migrate
from kc_vla.memory.things import ObservedThing

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
numbers = st.floats(-1e5, 1e5)
names = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)


@st.composite
def keyframes(draw: st.DrawFn) -> LinkedKeyframe:
    things = st.builds(
        ObservedThing,
        names,
        names,
        st.tuples(numbers, numbers, numbers),
        st.tuples(*[st.floats(0, 10)] * 3),
        names,
        st.dictionaries(names, names, max_size=2),
        st.sampled_from(["", "on", "in", "held"]),
        names,
        names,
        st.booleans(),
        st.floats(0, 1),
    )
    seen = draw(st.lists(things, max_size=3, unique_by=lambda each: each.object_id))
    return LinkedKeyframe(
        draw(st.sampled_from(["one", "two"])),
        draw(st.integers(0, 9)),
        draw(st.integers(0, 2**62)),
        draw(st.integers(0, 20)),
        draw(names),
        draw(names),
        draw(names),
        draw(st.sampled_from([NOTHING_NEAR, 0.0, 0.125])),
        tuple(seen),
    )


@tried(15, 200)
@given(st.lists(keyframes(), max_size=14), st.integers(1, 5))
def test_a_store_holds_the_last_keyframes_as_they_were_seen(given_ones: list[LinkedKeyframe], most: int) -> None:
    model: dict[tuple[str, int], LinkedKeyframe] = {}
    left = 0
    with TemporaryDirectory(dir=MEMORY) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_keyframes, "MOST_LINKED", most)
        with Store(Path(folder) / "memory.db") as store:
            for each in given_ones:
                store.link("home", each)
                model.pop((each.episode_id, each.frame), None)
                model[each.episode_id, each.frame] = each
                if len(model) > most:
                    del model[next(iter(model))]
                    left += 1
        with Store(Path(folder) / "memory.db", read_only=True) as again:
            history = again.linked("home")
            assert again.linked("elsewhere").keyframes == ()
    assert history.left == left
    assert {(each.episode_id, each.frame): each for each in history.keyframes} == model
    stamps = [each.stamp_ns for each in history.keyframes]
    assert stamps == sorted(stamps)


def test_a_keyframe_stays_as_it_was_seen_whatever_becomes_of_its_objects(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = LongTermMemory(store)
        memory.link("home", keyframe(0, cube("a", 0.5, 0.1)))
        memory.observe("home", [Detection("cube", (0.6, -0.1, 0.02), (0.04,) * 3, source_id="a")], 5 * SECOND)
        memory.forget("home", memory.objects("home")[0].id)
        seen = memory.linked("home").keyframes[0].of("a")
    assert seen is not None
    assert (seen.position, seen.attributes) == ((0.5, 0.1, 0.02), {"colour": "red"})
    with Store(tmp_path / "memory.db") as store:
        memory = LongTermMemory(store)
        assert [each.frame for each in memory.linked("home").showing("a")] == [0]
        memory.drop("home")
        assert memory.linked("home").keyframes == ()


def test_a_keyframe_that_is_requested_again_does_not_lose_what_it_shows(tmp_path: Path) -> None:
    first, blind = keyframe(0, cube("a", 0.5)), replace(keyframe(0), apart_s=NOTHING_NEAR, stamp_ns=9 * SECOND)
    with closing(LiveScene(tmp_path / "memory.db", "home")) as live:
        live.link([blind])
        live.link([replace(first, apart_s=0.1)])  # its detections came late
        live.link([replace(keyframe(0, cube("a", 0.6)), apart_s=0.05)])
    with closing(LiveScene(tmp_path / "memory.db", "home")) as again:
        again.link([blind, replace(keyframe(0, cube("a", 0.9)), apart_s=0.15), keyframe(1, cube("a", 0.7))])
        linked = again.linked("home").keyframes
    assert [(each.frame, each.stamp_ns, each.seen[0].position[0]) for each in linked] == [
        (0, SECOND, 0.6),
        (1, 2 * SECOND, 0.7),
    ]


def test_what_was_linked_outlives_a_kill(tmp_path: Path) -> None:
    script = f"""
import sys
sys.path.insert(0, {str(Path(shown_keyframes.__file__).parent)!r})
from pathlib import Path
from kc_vla.memory.long_term.store import Store
from shown_keyframes import cube, keyframe
store = Store(Path({str(tmp_path / "memory.db")!r}))
for frame in range(10**6):
    store.link("home", keyframe(frame, cube("a")))
    print(frame, flush=True)
"""
    worker = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    told = [int(worker.stdout.readline()) for _ in range(20)]
    os.kill(worker.pid, signal.SIGKILL)
    told += [int(line) for line in worker.stdout.read().splitlines() if line.isdigit()]
    worker.wait()
    with Store(tmp_path / "memory.db") as store:
        history = store.linked("home")
    kept = [each.frame for each in history.keyframes]
    assert set(told[-MOST_LINKED:]) <= set(kept)
    assert history.left == max(0, kept[-1] + 1 - MOST_LINKED)


def test_a_damaged_keyframe_is_left_out_with_a_line_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        for frame in range(4):
            store.link("home", keyframe(frame, cube("a")))
    connection = sqlite3.connect(path)
    connection.execute("UPDATE keyframe SET kept = replace(kept, '0.5', '0.7') WHERE frame = 2")
    connection.commit()
    connection.close()
    with Store(path, read_only=True) as reader, pytest.raises(DamageError, match="kc-vla memory repair"):
        reader.linked("home")
    with Store(path) as store:
        assert [each.frame for each in store.linked("home").keyframes] == [0, 1, 3]
        assert "left out" in store.mended


def test_a_store_of_before_keyframes_is_read_and_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    connection = sqlite3.connect(path, isolation_level=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kc_vla.memory.long_term.store_schema.STEPS", STEPS[:4])
        patch.setattr("kc_vla.memory.long_term.store_schema.VERSION", 4)
        migrate(connection, 0)
    connection.close()
    with Store(path, read_only=True) as store:
        assert store.linked("home").keyframes == ()
    with Store(path) as store:
        store.link("home", keyframe(0, cube("a")))
        assert len(store.linked("home").keyframes) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"episode_id": ""},
        {"frame": -1},
        {"label": "x\n"},
        {"apart_s": float("nan")},
        {"seen": (cube("a"), cube("a"))},
        {"seen": (cube("a", float("inf")),)},
        {"seen": tuple(cube(f"c{number}") for number in range(MOST_SHOWN + 1))},
    ],
)
def test_what_can_be_no_keyframe_is_refused_in_a_line(wrong: dict[str, object]) -> None:
    with pytest.raises(KeyframeLinkError) as told:
        LinkedKeyframe(**({"episode_id": "ep", "frame": 0, "stamp_ns": 1} | wrong))  # type: ignore[arg-type]
    assert "\n" not in str(told.value)


WALL_NS = 1_800_000_000 * SECOND


def scene(stamp_s: float, *seen: ObservedThing, episode: str = "ep") -> DetectedScene:
    return DetectedScene(round(stamp_s * SECOND), WALL_NS + round((stamp_s + 0.3) * SECOND), episode, seen)


def test_a_keyframe_is_joined_with_what_is_nearest_in_time_once_later_detections_are_in() -> None:
    join = KeyframeJoin(tolerance_s=0.15)
    for stamp, x in ((0.9, 0.1), (1.0, 0.2), (1.1, 0.3)):
        join.detected(scene(stamp, cube("a", x)))
    wanted = LinkedKeyframe("ep", 0, SECOND, label="start")
    join.committed(wanted, 2 * SECOND)
    assert not join.joined(2 * SECOND)
    join.detected(scene(1.3, cube("a", 0.9)))
    (found,) = join.joined(2 * SECOND)
    assert found.of("a") == cube("a", 0.2)
    assert (found.apart_s, found.stamp_ns) == (0.0, WALL_NS + round(1.3 * SECOND))  # simulated: when it was received
    join.committed(wanted, 9 * SECOND)
    assert not join.joined(20 * SECOND)


def test_two_cameras_show_their_objects_and_another_episode_shows_none() -> None:
    join = KeyframeJoin(tolerance_s=0.15, wait_s=1.0)
    join.detected(scene(1.05, cube("a", 0.1), cube("b")))
    join.detected(scene(0.98, cube("a", 0.2)))
    join.detected(scene(1.0, cube("c"), episode="old"))
    join.committed(LinkedKeyframe("ep", 0, SECOND), 2 * SECOND)
    (found,) = join.joined(3 * SECOND)
    assert [(each.object_id, each.position[0]) for each in found.seen] == [("a", 0.2), ("b", 0.5)]


def test_a_keyframe_near_which_nothing_was_detected_says_so() -> None:
    join = KeyframeJoin(wait_s=1.0)
    join.committed(LinkedKeyframe("ep", 0, SECOND), 2 * SECOND)
    assert not join.joined(2 * SECOND)
    (found,) = join.joined(3 * SECOND)
    assert (found.seen, found.apart_s) == ((), NOTHING_NEAR)


@tried(15, 200)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("seen"), st.integers(1, 60)),
            st.tuples(st.just("kept"), st.integers(0, 60)),
            st.tuples(st.just("wait"), st.integers(0, 3)),
        ),
        max_size=40,
    )
)
def test_every_keyframe_comes_out_once_and_shows_nothing_of_another_time(steps: list[tuple[str, int]]) -> None:
    join, now_ns, put, out = KeyframeJoin(0.2, 3.0), 100 * SECOND, set[int](), []
    for what, number in steps:
        if what == "seen":
            join.detected(scene(number / 10, cube(f"c{number}")))
        elif what == "kept":
            put.add(number)
            join.committed(LinkedKeyframe("ep", number, number * SECOND // 10 + 1), now_ns)
        else:
            now_ns += number * SECOND
        out += join.joined(now_ns)
    out += join.joined(now_ns + 4 * SECOND)
    assert sorted(each.frame for each in out) == sorted(put)
    for each in out:
        assert all(abs(int(thing.object_id[1:]) - each.frame) <= 2 for thing in each.seen)


def test_what_waits_is_bounded() -> None:
    join = KeyframeJoin()
    for number in range(MOST_RECENT + 100):
        join.detected(scene(1 + number / 20, cube("a")))
        join.committed(LinkedKeyframe("ep", number, 10**17 + number), SECOND)
    assert join.overflowed == MOST_RECENT + 100 - MOST_WAITING
    assert len(join.joined(100 * SECOND)) == MOST_WAITING
