"""A server on localhost that speaks OpenAI's API, and can be out of order in the ways that servers are."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

DIMENSION = 8
Answer = tuple[int, Any]
"""Status, and content for JSON or text as it is."""


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
                data = (content if isinstance(content, str) else json.dumps(content)).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except BrokenPipeError:
                    pass  # who asked has stopped waiting

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
        if path == "/v1/chat/completions":
            message = {"role": "assistant", "content": self.says(given["messages"])}
            usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            about = {"id": "1", "object": "chat.completion", "created": 0, "model": given["model"]}
            return 200, {**about, "choices": [choice], "usage": usage}
        return 404, {"error": {"message": f"no such path {path}"}}


def vector_of(text: str) -> list[float]:
    """What the server's model makes of a sentence: the same each time, and otherwise of chance."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return [float(each) for each in np.random.default_rng(seed).standard_normal(DIMENSION)]
