import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from nightly import tried
from observations import observation, same

from kc_vla.keyframes.buffer import LOST_FRAMES, BufferRefusal, KeyframeBuffer
from kc_vla.keyframes.observation import Keyframe
from kc_vla.keyframes.selector import KeyframeSelector, SelectorEvent
from kc_vla.keyframes.smoothing import Decision, GreedySmoother
from kc_vla.keyframes.store import KeyframeStore, KeyframeStoreError

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where thousands of small synced files cost no time."""


def keyframe(frame: int, committed: bool = True) -> Keyframe:
    return Keyframe(f"phase of {frame}", frame // 10, 0.75, "oracle", committed, observation(frame))


def equal(one: Keyframe, other: Keyframe) -> bool:
    fields = ("label", "phase", "score", "source", "committed")
    return all(getattr(one, f) == getattr(other, f) for f in fields) and same(one.observation, other.observation)


def test_however_many_views_there_are_they_survive_in_their_order(tmp_path: Path) -> None:
    for views in (("front",), ("wrist", "side", "front")):
        store = KeyframeStore(tmp_path / str(len(views)))
        store.begin("episode-1")
        store.put(replace(keyframe(10), observation=observation(10, views)))
        (again,) = KeyframeStore(tmp_path / str(len(views))).begin("episode-1")
        assert same(again.observation, observation(10, views))


def test_what_was_kept_before_views_had_names_is_still_read(tmp_path: Path) -> None:
    store = KeyframeStore(tmp_path)
    store.begin("episode-1")
    wanted = keyframe(10)
    seen = wanted.observation
    header = {
        **{name: getattr(wanted, name) for name in ("label", "phase", "score", "source", "committed")},
        **{"frame": seen.frame, "stamp_ns": seen.stamp_ns, "joint_names": list(seen.joint_names)},
    }
    np.savez(
        store.folder / "episode-1" / "00000010.npz",
        header=np.frombuffer(json.dumps(header).encode(), np.uint8),
        **{name: getattr(seen, name) for name in ("joint_positions", "joint_velocities", "tool_pose")},
        **seen.views,
    )
    (again,) = KeyframeStore(tmp_path).begin("episode-1")
    assert equal(again, wanted)


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can grow beyond 100 bytes: writing fails in its middle, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def store(tmp_path: Path) -> KeyframeStore:
    store = KeyframeStore(tmp_path)
    store.begin("episode")
    return store


def test_gives_back_what_was_put_ascending_by_frame(tmp_path: Path, store: KeyframeStore) -> None:
    for frame in (20, 0, 10):
        store.put(keyframe(frame, committed=frame < 20))
    store.put(keyframe(5))
    store.remove(5)
    store.remove(6)
    store.note(7)
    again = KeyframeStore(tmp_path)
    found = again.begin("episode")
    assert [k.observation.frame for k in found] == [0, 10, 20]
    assert all(equal(k, keyframe(k.observation.frame, k.observation.frame < 20)) for k in found)
    assert (again.events, again.damaged) == (7, ())


def test_a_new_episode_removes_the_ones_before(tmp_path: Path, store: KeyframeStore) -> None:
    store.put(keyframe(0))
    store.note(1)
    assert KeyframeStore(tmp_path).begin("another") == []
    assert [path.name for path in store.folder.iterdir()] == ["another"]


def test_never_deletes_what_it_did_not_write(tmp_path: Path, store: KeyframeStore) -> None:
    store.put(keyframe(0))
    own = store.folder / "mine"
    (own / "deeper").mkdir(parents=True)
    kept = [
        tmp_path / "thesis.txt",
        store.folder / "episode" / "notes.npz",
        own / "data.csv",
        own / "deeper" / "events",
    ]
    outside = tmp_path / "outside"
    outside.mkdir()
    (store.folder / "link").symlink_to(outside)
    kept.append(outside / "00000000.npz")
    for path in kept:
        path.write_text("precious")
    KeyframeStore(tmp_path).begin("another")
    assert [path.read_text() for path in kept] == ["precious"] * len(kept)
    assert not (store.folder / "episode" / "00000000.npz").exists()


@tried(150, 750)
@given(st.data())
def test_a_damaged_file_is_left_out_and_named(data: st.DataObject) -> None:
    with TemporaryDirectory(dir=MEMORY) as folder:
        store = KeyframeStore(Path(folder))
        store.begin("episode")
        store.put(keyframe(0))
        store.put(keyframe(12))
        path = store.folder / "episode" / "00000012.npz"
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(0, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content[: data.draw(st.none() | st.integers(0, len(content)))])
        again = KeyframeStore(Path(folder))
        found = again.begin("episode")
        assert equal(found[0], keyframe(0))
        if again.damaged:
            assert (len(found), again.damaged) == (1, ("00000012.npz",))
        else:
            assert equal(found[1], keyframe(12))


@pytest.mark.parametrize("header", ["[]", "null", "{}", '{"label": "a", "phase": Infinity}', '{"label"', "\xff"])
def test_a_foreign_archive_is_left_out_and_named(tmp_path: Path, store: KeyframeStore, header: str) -> None:
    with (store.folder / "episode" / "00000003.npz").open("wb") as file:
        np.savez(file, header=np.frombuffer(header.encode("latin-1"), np.uint8))
    again = KeyframeStore(tmp_path)
    assert again.begin("episode") == []
    assert again.damaged == ("00000003.npz",)


def test_never_unpickles(tmp_path: Path, store: KeyframeStore) -> None:
    with (store.folder / "episode" / "00000003.npz").open("wb") as file:
        np.savez(file, header=np.array([{"label": "a"}], object))
    again = KeyframeStore(tmp_path)
    assert (again.begin("episode"), again.damaged) == ([], ("00000003.npz",))


@pytest.mark.parametrize("count", ["", "three", "1.5"])
def test_an_unreadable_event_count_costs_no_keyframe(tmp_path: Path, store: KeyframeStore, count: str) -> None:
    store.put(keyframe(0))
    (store.folder / "episode" / "events").write_text(count)
    again = KeyframeStore(tmp_path)
    assert len(again.begin("episode")) == 1
    assert (again.events, again.damaged) == (0, ("events",))


def test_a_full_disk_is_told_and_leaves_the_version_before(tmp_path: Path, store: KeyframeStore) -> None:
    store.put(keyframe(12, committed=False))
    with (
        full_disk(),
        pytest.raises(KeyframeStoreError, match=r"frame 12 could not be kept .*File too large.*free some space"),
    ):
        store.put(keyframe(12, committed=True))
    (found,) = KeyframeStore(tmp_path).begin("episode")
    assert not found.committed
    assert [path.name for path in (store.folder / "episode").iterdir()] == ["00000012.npz"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KeyframeStoreError, match=r"keyframes cannot be kept in .*Not a directory.*Check the folder"):
        KeyframeStore(tmp_path / "file").begin("episode")


@pytest.mark.parametrize("episode_id", ["", "a/b", "../up", ".", "nul\0", "x" * 300])
def test_an_episode_id_that_is_no_folder_name_is_told(tmp_path: Path, episode_id: str) -> None:
    store = KeyframeStore(tmp_path)
    store.begin("episode")
    with pytest.raises(KeyframeStoreError, match=r"Check the folder|cannot name a folder"):
        store.begin(episode_id)
    # and nothing of it gets into the episode before
    for write in (lambda: store.put(keyframe(3)), lambda: store.note(3), lambda: store.remove(3)):
        with pytest.raises(KeyframeStoreError, match="its folder could not be opened"):
            write()
    assert list((store.folder / "episode").iterdir()) == []


def test_a_buffer_goes_on_in_memory_when_the_store_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    buffer = KeyframeBuffer(store=KeyframeStore(tmp_path / "file"))
    buffer.begin("episode")
    assert "cannot be kept" in buffer.storage_error
    for frame in range(30):
        buffer.observe(observation(frame))
    buffer.apply(SelectorEvent(Decision.COMMITTED, 0, 0, 0, "start", 1.0), "oracle", 0)
    buffer.apply(SelectorEvent(Decision.PROVISIONAL, 5, 5, 1, "flash", 1.0), "oracle", 1)
    buffer.apply(SelectorEvent(Decision.COMMITTED, 9, 14, 1, "flash", 1.0), "oracle", 2)
    assert [entry.frame for entry in buffer.index()] == [0, 9]
    buffer.forget()
    assert [entry.frame for entry in buffer.index()] == [0]


def test_a_buffer_on_a_full_disk_says_so_and_loses_nothing(tmp_path: Path) -> None:
    buffer = KeyframeBuffer(store=KeyframeStore(tmp_path))
    buffer.begin("episode")
    buffer.observe(observation(0))
    with full_disk():
        buffer.apply(SelectorEvent(Decision.COMMITTED, 0, 0, 0, "start", 1.0), "oracle", 0)
    assert "free some space" in buffer.storage_error
    assert [entry.frame for entry in buffer.index()] == [0]


def test_a_candidate_that_only_scores_again_is_written_once_unless_that_failed(tmp_path: Path) -> None:
    """A selector that keeps the first hit tells it again for as long as its score stays high: half a second."""

    def tell(sequence: int, score: float) -> None:
        buffer.apply(SelectorEvent(Decision.SUPERSEDED, 0, sequence, 0, "start", score), "learned", sequence)

    buffer = KeyframeBuffer(store=KeyframeStore(tmp_path))
    buffer.begin("episode")
    buffer.observe(observation(0))
    with full_disk():
        tell(0, 0.6)
    tell(1, 0.7)
    (held,) = KeyframeStore(tmp_path).begin("episode")
    assert held.score == pytest.approx(0.7)

    buffer = KeyframeBuffer(store=KeyframeStore(tmp_path))
    buffer.begin("episode")
    (file,) = tmp_path.rglob("*.npz")
    written = file.stat().st_ino
    tell(2, 0.9)
    assert [entry.score for entry in buffer.index()] == [pytest.approx(0.9)]
    assert file.stat().st_ino == written
    buffer.apply(SelectorEvent(Decision.COMMITTED, 0, 3, 0, "start", 0.9), "learned", 3)
    (held,) = KeyframeStore(tmp_path).begin("episode")
    assert held.committed


def test_a_smaller_buffer_takes_up_what_it_can_hold(tmp_path: Path, store: KeyframeStore) -> None:
    for frame in (0, 10, 20, 30):
        store.put(keyframe(frame))
    buffer = KeyframeBuffer(capacity=2, store=KeyframeStore(tmp_path))
    buffer.begin("episode")
    assert [entry.frame for entry in buffer.index()] == [0, 30]


@tried(60, 300)
@given(st.lists(st.sampled_from([0.0, 0.0, 0.9]), min_size=5, max_size=30), st.integers(1, 3), st.data())
def test_killed_at_any_write_the_store_holds_every_committed_keyframe(
    scores: list[float], window: int, data: st.DataObject
) -> None:
    """The process dies between two writes to the disk: what a reader of all events then ends with is the same."""
    with TemporaryDirectory(dir=MEMORY) as folder:
        writes = data.draw(st.integers(0, 3 * len(scores)), label="writes before the kill")
        selector = KeyframeSelector([f"phase {i}" for i in range(9)], GreedySmoother(0.5, window))
        events = [e for frame, score in enumerate(scores) for e in selector.update(frame, score)]
        buffer = KeyframeBuffer(store=_MortalStore(Path(folder), writes))
        buffer.begin("episode")
        alive = 0
        try:
            for frame in range(len(scores)):
                buffer.observe(observation(frame))
                for sequence, event in enumerate(events):
                    if event.decided_at == frame:
                        buffer.apply(event, "oracle", sequence)
                alive = frame + 1
        except _KilledError:
            pass
        # the frame in whose middle it died is shown again
        buffer = KeyframeBuffer(store=KeyframeStore(Path(folder)))
        buffer.begin("episode")
        for frame in range(alive, len(scores)):
            buffer.observe(observation(frame))
            if frame == alive:
                _replay(buffer, [e for e in events if e.decided_at <= frame])
            else:
                _replay(buffer, [e for e in events if e.decided_at == frame], events)
        expected = {e.phase: e.frame for e in events}
        if alive < len(scores):
            assert {entry.phase: entry.frame for entry in buffer.index()} == expected


def _replay(buffer: KeyframeBuffer, events: list[SelectorEvent], all_events: list[SelectorEvent] | None = None) -> None:
    for event in events:
        sequence = (all_events or events).index(event)
        seen = sequence < buffer.events
        try:
            buffer.apply(event, "oracle", sequence)
        except BufferRefusal:
            # a candidate of before the restart that was superseded since
            assert seen


class _KilledError(BaseException):
    """The process is gone."""


class _MortalStore(KeyframeStore):
    """Dies before its n-th write."""

    def __init__(self, folder: Path, writes: int) -> None:
        super().__init__(folder)
        self._left = writes

    def _live(self) -> None:
        if self._left == 0:
            raise _KilledError
        self._left -= 1

    def put(self, keyframe: Keyframe) -> None:
        self._live()
        super().put(keyframe)

    def note(self, events: int) -> None:
        self._live()
        super().note(events)

    def remove(self, frame: int) -> None:
        self._live()
        super().remove(frame)


CAPACITY, RECENT = 4, 10


class BufferOverRestarts(RuleBasedStateMachine):
    """A buffer with a store, restarted at any point and told every event again, against a plain model."""

    def __init__(self) -> None:
        super().__init__()
        self.temporary = TemporaryDirectory(dir=MEMORY)
        self.model: dict[int, tuple[int, bool]] = {}  # frame -> phase, committed
        self.ring: list[int] = []
        self.events: list[SelectorEvent] = []
        self.known: dict[int, dict[int, tuple[int, bool]]] = {}
        self.frame = 0

    @initialize(window=st.integers(1, 4))
    def begin(self, window: int) -> None:
        self.selector = KeyframeSelector([f"phase {i}" for i in range(9)], GreedySmoother(0.5, window))
        self.start()

    def start(self) -> None:
        self.buffer = KeyframeBuffer(CAPACITY, RECENT, KeyframeStore(Path(self.temporary.name)))
        self.buffer.begin("episode")

    def teardown(self) -> None:
        self.temporary.cleanup()

    def evict(self) -> None:
        while len(self.model) > CAPACITY:
            del self.model[sorted(self.model)[1]]

    def expected_frame(self, event: SelectorEvent) -> int | None:
        pool = {*self.ring, *self.model}
        if event.frame in pool:
            return event.frame
        free = [f for f in pool if f not in self.model or self.model[f][0] == event.phase]
        near = [f for f in free if abs(f - event.frame) <= LOST_FRAMES]
        return min(near, key=lambda f: abs(f - event.frame), default=None)

    @rule(score=st.sampled_from([0.0, 0.0, 0.9]))
    def see_a_frame(self, score: float) -> None:
        self.buffer.observe(observation(self.frame))
        self.ring = [*self.ring, self.frame][-RECENT:]
        for event in self.selector.update(self.frame, score):
            frame, sequence = self.expected_frame(event), len(self.events)
            self.events.append(event)
            if frame is None:
                with pytest.raises(BufferRefusal):
                    self.buffer.apply(event, "oracle", sequence)
                continue
            self.buffer.apply(event, "oracle", sequence)
            committed = event.decision is Decision.COMMITTED
            if committed or not self.model.get(frame, (0, False))[1]:
                self.model[frame] = (event.phase, committed)
            for other, (phase, final) in list(self.model.items()):
                if phase == event.phase and not final and other != frame:
                    del self.model[other]
            self.evict()
        self.buffer.settle(self.frame)
        self.known[self.frame] = dict(self.model)
        self.frame += 1

    @precondition(lambda self: self.model and self.ring)
    @rule(data=st.data())
    def inject(self, data: st.DataObject) -> None:
        frame = data.draw(st.sampled_from(self.ring))
        full = len(self.model) == CAPACITY and frame < sorted(self.model)[1]
        if frame in self.model or full:
            with pytest.raises(BufferRefusal):
                self.buffer.inject(frame, "by hand")
            return
        self.buffer.inject(frame, "by hand")
        self.model[frame] = (max(phase for phase, committed in self.model.values() if committed), True)
        self.evict()
        self.known.clear()

    @rule()
    def forget(self) -> None:
        self.buffer.forget()
        for frame in sorted(self.model)[1:]:
            del self.model[frame]
        self.known.clear()

    @precondition(lambda self: self.events)
    @rule()
    def restart(self) -> None:
        self.start()
        self.ring = []
        self.known.clear()
        self.the_index_is_the_models()
        assert self.buffer.events == len(self.events)
        self.buffer.observe(observation(self.frame))
        self.ring = [self.frame]
        for sequence, event in enumerate(self.events):
            try:
                self.buffer.apply(event, "oracle", sequence)
            except BufferRefusal:
                assert event.frame not in self.model

    @invariant()
    def the_index_is_the_models(self) -> None:
        held = {entry.frame: (entry.phase, entry.committed) for entry in self.buffer.index()}
        assert held == self.model
        assert all(same(k.observation, observation(k.observation.frame)) for k in self.buffer.keyframes())

    @invariant()
    def the_history_is_the_models(self) -> None:
        for frame, held in self.known.items():
            if frame > self.frame - RECENT:
                given_ = self.buffer.keyframes(as_of=frame)
                assert {k.observation.frame: (k.phase, k.committed) for k in given_} == held


TestBufferOverRestarts = BufferOverRestarts.TestCase
TestBufferOverRestarts.settings = settings(tried(60, 300), stateful_step_count=40)


def test_the_header_is_plain_json(store: KeyframeStore) -> None:
    store.put(keyframe(12))
    with np.load(store.folder / "episode" / "00000012.npz", allow_pickle=False) as file:
        assert json.loads(file["header"].tobytes())["label"] == "phase of 12"
