"""Bags in other forms than ours."""

from __future__ import annotations

from pathlib import Path

from mcap.writer import Writer

from kc_vla.bags.reader import BagReader


def copy_as(path: Path, bag: Path, **options: object) -> Path:
    """Write the messages of `bag` as an MCAP file in another form."""
    reader = BagReader(bag)
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=2000, **options)
        writer.start(profile="ros2")
        channels: dict[str, int] = {}
        for message in reader.messages():
            if message.topic not in channels:
                schema = reader.schema(message.ref.type)
                number = writer.register_schema(schema.type, schema.encoding, schema.text.encode())
                channels[message.topic] = writer.register_channel(message.topic, "cdr", number)
            time_ns = message.ref.log_time_ns
            writer.add_message(channels[message.topic], time_ns, message.data, time_ns)
        writer.finish()
    return path
