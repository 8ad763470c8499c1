from pathlib import Path

import pytest
from rosbags.typesys import Stores, get_typestore
from rosbags.typesys.msg import get_types_from_msg

from kc_vla.bags.errors import BagWriteError
from kc_vla.bags.schemas import SHIPPED, collect_schema
from kc_vla.datasets.exchange import bag_output


def install(prefix: Path, name: str, text: str) -> None:
    package, folder, short = name.split("/")
    path = prefix / "share" / package / folder
    path.mkdir(parents=True, exist_ok=True)
    (path / f"{short}.msg").write_text(text)


def test_every_type_that_is_used_is_embedded_once() -> None:
    schema = collect_schema("kc_vla_msgs/msg/Keyframe")
    names = [line.removeprefix("MSG: ") for line in schema.text.splitlines() if line.startswith("MSG: ")]
    assert len(names) == len(set(names))
    assert {"kc_vla_msgs/Observation", "sensor_msgs/Image", "std_msgs/Header", "builtin_interfaces/Time"} <= set(names)
    assert schema.type_hash.startswith("RIHS01_")


def test_the_hash_is_that_of_the_embedded_text() -> None:
    schema = collect_schema("kc_vla_msgs/msg/EpisodeStatus")
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(schema.text, schema.type))
    assert store.hash_rihs01(schema.type) == schema.type_hash


def test_fields_with_bounds_constants_and_comments(tmp_path: Path) -> None:
    install(tmp_path, "a_msgs/msg/Outer", "uint8 X=1  # b_msgs/Not\nInner[<=3] some\nb_msgs/Far[2] far\nstring<=4 s\n")
    install(tmp_path, "a_msgs/msg/Inner", "float64 v 1.0\n")
    install(tmp_path, "b_msgs/msg/Far", "# nothing but a byte\nbyte b\n")
    schema = collect_schema("a_msgs/msg/Outer", [tmp_path])
    names = [line for line in schema.text.splitlines() if line.startswith("MSG: ")]
    assert names == ["MSG: a_msgs/Inner", "MSG: b_msgs/Far"]
    assert schema.type_hash == ""


def test_what_is_not_installed_is_named(tmp_path: Path) -> None:
    install(tmp_path, "a_msgs/msg/Outer", "c_msgs/Gone gone\n")
    with pytest.raises(BagWriteError, match="c_msgs/msg/Gone"):
        collect_schema("a_msgs/msg/Outer", [tmp_path])
    with pytest.raises(BagWriteError, match="package/msg/Name"):
        collect_schema("Outer", [tmp_path])


IMPORTED = sorted({bag_output.IMAGE, bag_output.COMPRESSED, *(topic.type for topic in bag_output.OFFERED.values())})


@pytest.mark.parametrize("message_type", IMPORTED)
def test_what_an_imported_episode_is_written_with_comes_along_as_it_is_installed(message_type: str) -> None:
    assert collect_schema(message_type, [SHIPPED]).text == collect_schema(message_type).text
