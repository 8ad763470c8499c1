"""What an MCAP file calls things: definitions, topics, the episode, as far as it has been read."""

from __future__ import annotations

from io import BytesIO

from mcap import records as mcap
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode

from kc_vla.bags.errors import Damage
from kc_vla.bags.mcap_summary import Summary
from kc_vla.bags.records import PARSE_ERRORS
from kc_vla.bags.schemas import Schema
from kc_vla.bags.topics import EPISODE_RECORD, Qos, RecordedEpisodeInfo, offered


class McapNames:
    """The topics, definitions and episode that one MCAP file names.

    Attributes:
        episode: whose bag it is; None before reading, and where the file does not say.
        qos: what each topic was offered with.
        channels: topics by the numbers that messages have.
    """

    def __init__(self) -> None:
        self.episode: RecordedEpisodeInfo | None = None
        self.qos: dict[str, Qos] = {}
        self.channels: dict[int, mcap.Channel] = {}
        self._schemas: dict[int, mcap.Schema] = {}

    def learn_summary(self, summary: Summary) -> None:
        """Learn what a summary says; raise `Damage` where it contradicts what is known."""
        for schema in summary.schemas.values():
            self._learn_schema(schema)
        for channel in summary.channels.values():
            self._learn_channel(channel)
        self._learn_metadata(EPISODE_RECORD, summary.metadata.get(EPISODE_RECORD, {}))

    def learn(self, opcode: int, content: bytes, offset: int) -> None:
        """Learn from the record that begins, or whose chunk begins, at byte `offset`; raise `Damage` if it cannot."""
        stream = ReadDataStream(BytesIO(content))
        try:
            if opcode == Opcode.SCHEMA:
                self._learn_schema(mcap.Schema.read(stream))
            elif opcode == Opcode.CHANNEL:
                self._learn_channel(mcap.Channel.read(stream))
            elif opcode == Opcode.METADATA:
                metadata = mcap.Metadata.read(stream)
                self._learn_metadata(metadata.name, metadata.metadata)
        except PARSE_ERRORS as error:
            raise Damage(f"is damaged at byte {offset}: {error or type(error).__name__}") from error

    def schema(self, message_type: str) -> Schema | None:
        """Return the definition of a type, as far as the file has been read; None where it has none.

        Raises:
            Damage: it is no text.
        """
        for schema in self._schemas.values():
            if schema.name == message_type and schema.encoding:
                try:
                    text = schema.data.decode()
                except UnicodeDecodeError as error:
                    raise Damage(f"is damaged: the definition of {message_type} is no text") from error
                return Schema(message_type, text, self._type_hash(schema.id), schema.encoding)
        return None

    def type_of(self, channel: mcap.Channel) -> str:
        """Return the type of a topic's messages; empty where the file has no definition."""
        schema = self._schemas.get(channel.schema_id)
        return schema.name if schema is not None else ""

    def _type_hash(self, schema_id: int) -> str:
        hashes = (c.metadata.get("topic_type_hash", "") for c in self.channels.values() if c.schema_id == schema_id)
        return next(hashes, "")

    def _learn_schema(self, schema: mcap.Schema) -> None:
        earlier = self._schemas.get(schema.id, schema)
        if (schema.name, schema.data) != (earlier.name, earlier.data):
            raise Damage(f"is damaged: it has two definitions with the number {schema.id}")
        self._schemas[schema.id] = schema

    def _learn_channel(self, channel: mcap.Channel) -> None:
        earlier = self.channels.get(channel.id, channel)
        if (channel.topic, channel.schema_id) != (earlier.topic, earlier.schema_id):
            raise Damage(f"is damaged: it has two topics with the number {channel.id}")
        self.channels[channel.id] = channel
        if channel.topic not in self.qos:
            self.qos[channel.topic] = offered(channel.metadata.get("offered_qos_profiles", ""))

    def _learn_metadata(self, name: str, fields: dict[str, str]) -> None:
        if name == EPISODE_RECORD and self.episode is None:
            self.episode = RecordedEpisodeInfo.from_metadata(fields)
