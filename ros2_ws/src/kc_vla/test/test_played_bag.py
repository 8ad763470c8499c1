"""Which topics of a bag a player plays, and when."""

from dataclasses import replace

import numpy as np
import pytest
from episode_bag import Script, write_episode

from kc_vla.bags.errors import BagEmptyError, BagReadError
from kc_vla.bags.schemas import Schema, collect_schema
from kc_vla.replay import played_bag
from kc_vla.replay.played_bag import PlayedBag

IMAGES = "/third_person/image_raw"


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_episode(tmp_path_factory.mktemp("recorded") / "bag", Script(size=16)))


def test_topics_are_chosen_by_name_with_or_without_the_first_slash(bag: str) -> None:
    played = PlayedBag(bag, " third_person/image_raw, /joint_states ,", decompress=False)
    assert sorted(played.topics) == ["/joint_states", IMAGES]
    assert len(PlayedBag(bag, "", decompress=False).topics) > 2


def test_a_topic_that_is_not_there_is_told_with_those_that_are(bag: str) -> None:
    with pytest.raises(BagReadError, match=rf"has no /nothing: it has .*{IMAGES}"):
        PlayedBag(bag, "nothing", decompress=False)


def test_a_loop_has_what_was_left_out_at_first(bag: str) -> None:
    played = PlayedBag(bag, IMAGES, decompress=False)
    whole = list(played.begin(0.0, 1.0, 0.0, False, None).due(1e9))
    playback = played.begin(0.0, 1.0, 1.0, True, None)
    first = playback.due(1e-9)[0]
    assert first.ref.log_time_ns >= whole[0].ref.log_time_ns + 10**9
    while playback.rounds < 2:
        playback.step(0.0)
    again = playback.step(0.0)
    assert again is not None
    assert again.ref.log_time_ns == whole[0].ref.log_time_ns


def test_a_start_behind_the_end_is_told(bag: str) -> None:
    with pytest.raises(BagEmptyError, match="ends before second 1000"):
        PlayedBag(bag, IMAGES, decompress=False).begin(0.0, 1.0, 1000.0, False, None)


def test_pictures_that_are_not_compressed_stay_as_they_are(bag: str) -> None:
    played = PlayedBag(bag, IMAGES, decompress=True)
    assert (played.topics[IMAGES].name, played.topics[IMAGES].unpacked) == (IMAGES, False)
    picture, header = played.unpack(played.begin(0.0, 1.0, 0.0, False, None).due(1.0)[0])
    assert (picture.shape, picture.dtype) == ((16, 16, 3), np.uint8)
    assert header.stamp.sec == 1


def test_messages_of_ours_with_other_fields_are_left_out_and_told(bag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    events = "kc_vla_msgs/msg/KeyframeEvent"

    def installed(message_type: str) -> Schema:
        found = collect_schema(message_type)
        changed = replace(found, text=f"{found.text}\nbool more\n", type_hash="RIHS01_other" if found.type_hash else "")
        return changed if message_type == events else found

    whole = PlayedBag(bag, "", decompress=False)
    assert whole.left_out == []
    monkeypatch.setattr(played_bag, "collect_schema", installed)
    played = PlayedBag(bag, "", decompress=False)
    gone = whole.topics.keys() - played.topics.keys()
    assert {whole.topics[topic].type for topic in gone} == {events}
    (told,) = played.left_out
    assert told == f"{next(iter(gone))} is not played: it was recorded with another version of {events}"
    topics = {message.topic for message in played.begin(0.0, 1.0, 0.0, False, None).due(1e9)}
    assert IMAGES in topics
    assert not topics & gone
    assert PlayedBag(bag, IMAGES, decompress=False).left_out == []
