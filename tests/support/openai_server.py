"""A server on localhost that speaks OpenAI's API, and can be out of order in the ways that servers are."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

DIMENSION = 8
Answer = tuple[int, Any]
"""Status, and content for JSON, text as it is, or bytes one after the other for as long as they are taken."""


class OpenAiServer:
    """Serves until it is left. `answers` are given first, one a request; then it does as it should."""

    def __init__(self, says: Callable[[list[dict[str, Any]]], str] = lambda messages: "[]", slow_s: float = 0) -> None:
        """Serve at a free port.

        Args:
            says: what the language model answers to messages.
            slow_s: before each answer, s.
        """
        self.says, self.slow_s = says, slow_s
        self.answers: list[Answer] = []
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append(given)
                server.keys.append(self.headers.get("Authorization", ""))
                time.sleep(server.slow_s)
                status, content = server.answers.pop(0) if server.answers else server.proper(self.path, given)
                if isinstance(content, Iterator):
                    self._stream(status, content)
                    return
                data = (content if isinstance(content, str) else json.dumps(content)).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except BrokenPipeError:
                    pass  # who asked has stopped waiting

            def _stream(self, status: int, content: Iterator[bytes]) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                try:
                    for each in content:
                        self.wfile.write(each)
                        self.wfile.flush()
                except (BrokenPipeError, ConnectionResetError):
                    pass

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> OpenAiServer:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def proper(self, path: str, given: dict[str, Any]) -> Answer:
        """What a server in order answers."""
        if path == "/v1/embeddings":
            data = [
                {"object": "embedding", "index": index, "embedding": vector_of(text)}
                for index, text in enumerate(given["input"])
            ]
            data.reverse()  # the API tells the order by `index`
            usage = {"prompt_tokens": 3 * len(data), "total_tokens": 3 * len(data)}
            return 200, {"object": "list", "model": given["model"], "data": data, "usage": usage}
        if path == "/v1/chat/completions" and given.get("stream"):
            return 200, streamed(self.says(given["messages"]))
        if path == "/v1/chat/completions":
            message = {"role": "assistant", "content": self.says(given["messages"])}
            usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            about = {"id": "1", "object": "chat.completion", "created": 0, "model": given["model"]}
            return 200, {**about, "choices": [choice], "usage": usage}
        return 404, {"error": {"message": f"no such path {path}"}}


def streamed(text: str, end: str | None = "stop", step: int = 40) -> Iterator[bytes]:
    """The events of an answer that comes bit by bit; `end` is why it ends, None where it breaks off."""
    about = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    for at in range(0, len(text), step):
        delta = {"index": 0, "delta": {"role": "assistant", "content": text[at : at + step]}, "finish_reason": None}
        yield _event({**about, "choices": [delta]})
    if end is not None:
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        yield _event({**about, "choices": [{"index": 0, "delta": {}, "finish_reason": end}]})
        yield _event({**about, "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"


def _event(content: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(content)}\n\n".encode()


def vector_of(text: str) -> list[float]:
    """What the server's model makes of a sentence: the same each time, and otherwise of chance."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return [float(each) for each in np.random.default_rng(seed).standard_normal(DIMENSION)]
