from pathlib import Path

import pytest
from episode_bag import Script, write_episode
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader

from kc_vla.bags.mend import mend
from kc_vla.bags.reader import BagReader


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    script = Script(size=8, steps=20, oracle=(0, 3, 6, 9, 12))
    return (write_episode(tmp_path_factory.mktemp("episode") / "bag", script) / "bag_0.mcap").read_bytes()


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("torn") / "bag_0.mcap"


def test_a_whole_file_is_not_touched(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "bag_0.mcap"
    path.write_bytes(whole)
    facts, damage = mend(path)
    assert damage == ""
    assert facts.messages == sum(1 for _ in BagReader(path).messages())
    assert path.read_bytes() == whole


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_mended_file_holds_the_same_messages_and_opens_anywhere(
    data: st.DataObject, whole: bytes, torn: Path
) -> None:
    torn.write_bytes(whole[: data.draw(st.integers(1, len(whole) - 1))])
    before = [(m.topic, m.data, m.ref.log_time_ns) for m in BagReader(torn).messages()]
    facts, damage = mend(torn)
    assert damage
    assert facts.messages == len(before)
    if not before:
        return
    reader = BagReader(torn)
    assert [(m.topic, m.data, m.ref.log_time_ns) for m in reader.messages()] == before
    assert reader.damages == []
    assert reader.episode is not None
    with torn.open("rb") as file:
        stock = make_reader(file, validate_crcs=True)
        summary = stock.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        assert summary.statistics.message_count == len(before)
        assert facts.start_ns == summary.statistics.message_start_time
        assert facts.end_ns == summary.statistics.message_end_time
    assert list(torn.parent.iterdir()) == [torn]
