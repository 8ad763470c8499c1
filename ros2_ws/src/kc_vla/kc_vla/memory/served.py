"""A server that speaks OpenAI's API: where it is, how long it is waited for, and what it cost.

Any server does, in the cloud or beside the robot: its address is a setting, its key comes from the environment alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kc_vla.core.errors import StackError
from kc_vla.core.untrusted import one_line, without_controls
from kc_vla.memory.server_address import AddressError, ServerAddress

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types import CompletionUsage

    from kc_vla.memory.embedding.interface import Vectors

KEY_VARIABLE = "OPENAI_API_KEY"
_MOST_TOLD = 200


class ServerError(StackError):
    """A server cannot be asked, or what it says cannot be used; the message is one line for people.

    Attributes:
        status: of HTTP, where the server refused; 0 otherwise.
    """

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class ServerSettings:
    """The settings of a model at a server.

    Attributes:
        model: as the server calls it.
        base_url: of its API, "http://localhost:8000/v1"; empty for OpenAI's own. It may have a user and a password, and
            parameters such as a token: they are sent, and never shown.
        timeout_s: for one request and its whole answer, from the connection to the last byte, s.
        retries: after a time-out, a broken connection, or an answer that the server is busy.
        input_price: of a million tokens that are sent, in any currency ...
        output_price: ... and that are received.
        most_tokens: of one answer of a language model.
    """

    model: str
    base_url: str = field(default="", repr=False)
    timeout_s: float = 10.0
    retries: int = 2
    input_price: float = 0.0
    output_price: float = 0.0
    most_tokens: int = 500


class Said(NamedTuple):
    """What a language model answered, and the tokens that it was given and gave; 0 where the server tells none."""

    text: str
    input_tokens: int
    output_tokens: int


@dataclass
class Cost:
    """What was asked of a server since the start."""

    requests: int = 0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    price: float = field(default=0.0)


class Server:
    """One model at one server. Every call waits, up to (1 + retries) time-outs: not for a node's own thread."""

    def __init__(self, settings: ServerSettings) -> None:
        """Make a client; nothing is sent yet.

        Raises:
            ServerError: the settings make no sense, or OpenAI's own server is meant and there is no key.
        """
        key = os.environ.get(KEY_VARIABLE, "")
        if not settings.model:
            raise ServerError("a server was configured without a model: name one that it serves")
        if not settings.timeout_s > 0 or settings.retries < 0:
            raise ServerError("the time-out of a server has to be above 0 s, its retries 0 or more")
        if not settings.base_url and not key:
            raise ServerError(
                f"no key for the model {settings.model}: set {KEY_VARIABLE}, or base_url to another server"
            )
        try:
            self._address = ServerAddress(settings.base_url, key)
        except AddressError as error:
            raise ServerError(f"the server of the model {settings.model} cannot be asked: {error}") from None
        from openai import OpenAI  # takes a second

        from kc_vla.memory.bounded_client import bounded_client

        self.settings, self.cost = settings, Cost()
        self._client: OpenAI = OpenAI(
            api_key=key or "none",
            base_url=self._address.url or None,
            timeout=settings.timeout_s,
            max_retries=settings.retries,
            default_query=self._address.parameters,
            http_client=bounded_client(settings.timeout_s, self._address.login),
        )

    def embed(self, sentences: Sequence[str]) -> Vectors:
        """Return the vectors (N, D) of the server; raise ServerError if it does not answer with N of them."""
        answer = self._ask(
            self._client.embeddings.create,
            model=self.settings.model,
            input=list(sentences),
            encoding_format="float",
        )
        try:
            vectors = np.array(
                [each.embedding for each in sorted(answer.data, key=lambda each: each.index)], np.float32
            )
            used = answer.usage.prompt_tokens if answer.usage else 0
        except (AttributeError, TypeError, ValueError) as error:
            raise self._unusable("no vectors") from error
        if vectors.ndim != 2 or len(vectors) != len(sentences):
            raise self._unusable(f"not a vector for each of {len(sentences)} sentences")
        self._count(used, 0)
        return vectors

    def say(self, messages: Sequence[dict[str, Any]]) -> str:
        """Return what a language model answers; ServerError where nothing comes."""
        answer = self._ask(
            self._client.chat.completions.create,
            model=self.settings.model,
            messages=list(messages),
            max_completion_tokens=self.settings.most_tokens,
            temperature=0,
        )
        try:
            text = answer.choices[0].message.content
            usage: CompletionUsage | None = answer.usage
        except (AttributeError, TypeError, IndexError) as error:
            raise self._unusable("no text") from error
        if usage is not None:
            self._count(usage.prompt_tokens, usage.completion_tokens)
        if not isinstance(text, str) or not text.strip():
            raise self._unusable("an empty text")
        return self._address.blanked(text, user=False)

    def stream(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None, hear: Callable[[str], None]
    ) -> Said:
        """Return what a language model answers, handed on bit by bit while it comes.

        Args:
            messages: what it is asked.
            schema: a JSON schema that the answer is to follow, with its name, as the API wants it; None: any text.
            hear: is given each bit of the text, without control characters.

        Raises:
            ServerError: nothing comes, or it breaks off, or goes on for longer than the time-out or 1 MB.
        """
        parts: list[str] = []
        sent, received, end = 0, 0, ""

        def read(**given: Any) -> None:
            nonlocal sent, received, end
            with self._client.chat.completions.create(**given) as answer:
                for each in answer:
                    for choice in each.choices or ():
                        if choice.delta.content:
                            parts.append(str(choice.delta.content))
                            hear(without_controls(self._address.blanked(parts[-1], user=False)))
                        end = choice.finish_reason or end
                    if each.usage is not None:
                        sent, received = each.usage.prompt_tokens, each.usage.completion_tokens

        form = {} if schema is None else {"response_format": {"type": "json_schema", "json_schema": schema}}
        try:
            self._ask(
                read,
                model=self.settings.model,
                messages=list(messages),
                max_completion_tokens=self.settings.most_tokens,
                temperature=0,
                stream=True,
                stream_options={"include_usage": True},
                **form,
            )
        except (AttributeError, TypeError) as error:
            raise self._unusable("something else than the API says") from error
        finally:
            self._count(sent, received)
        if not end:
            raise self._unusable("a text that breaks off")
        if end == "length":
            raise self._unusable(f"more than {self.settings.most_tokens} tokens: raise most_tokens, or ask for less")
        text = "".join(parts)
        if not text.strip():
            raise self._unusable("an empty text")
        return Said(self._address.blanked(text, user=False), sent, received)

    def _ask(self, call: Any, **given: Any) -> Any:
        from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

        from kc_vla.memory.bounded_client import TooMuchError

        self.cost.requests += 1
        where = f"the server of the model {self.settings.model}"
        try:
            return call(**given)
        except APITimeoutError as error:
            wrong = f"{where} did not answer within {self.settings.timeout_s:g} s, {1 + self.settings.retries} times"
            raise self._failed(wrong) from error
        except APIConnectionError as error:
            raise self._failed(f"{where} cannot be reached: is {self._client.base_url} its address?") from error
        except APIStatusError as error:
            said = self._told(str(error.message))[:_MOST_TOLD]
            raise self._failed(f"{where} answered {error.status_code}: {said}", error.status_code) from None
        except TooMuchError as error:
            raise self._failed(f"{where} {error}") from error
        except (OpenAIError, ValueError) as error:
            raise self._failed(f"{where} answered with something else than the API says") from error

    def _told(self, text: str) -> str:
        """Return what the server said, in one line.

        Some say back what they were sent, the key and the password, too.
        """
        blanked = self._address.blanked
        return blanked(one_line(blanked(text)))

    def _unusable(self, what: str) -> ServerError:
        return self._failed(f"the server of the model {self.settings.model} answered with {what}")

    def _failed(self, text: str, status: int = 0) -> ServerError:
        self.cost.failures += 1
        return ServerError(self._address.blanked(text), status)

    def _count(self, sent: int, received: int) -> None:
        self.cost.input_tokens += sent
        self.cost.output_tokens += received
        prices = (self.settings.input_price, self.settings.output_price)
        self.cost.price += (sent * prices[0] + received * prices[1]) / 1e6
