"""`kc-vla annotate page`, which serves the annotation page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kc_vla.bags.errors import BagError
from kc_vla.cli import numbers
from kc_vla.core.errors import StackError
from kc_vla.core.home import cache_home, user_name
from kc_vla.core.ports import ANNOTATION_PAGE
from kc_vla.episodes.annotation_log import AnnotationError
from kc_vla.keyframes.selectors import SELECTOR, NetworkOptions


def main(words: Sequence[str]) -> int:
    """Serve until it is interrupted; return the exit status: 0, 1 for a failure in a line, 2 for bad arguments."""
    parser = argparse.ArgumentParser(
        prog="kc-vla annotate page",
        description="A web page on which a person marks the keyframes of recorded episodes. What is marked is kept at "
        "once in annotations.jsonl beside each bag, with its history.",
    )
    parser.add_argument("path", type=Path, help="a bag, or a folder with bags in it")
    parser.add_argument(
        "--port",
        type=numbers.port,
        default=ANNOTATION_PAGE,
        help="port of the page (default %(default)s; 0: any free one)",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: this machine alone)")
    parser.add_argument("--author", default=user_name(), help="name proposed to the person who opens it")
    parser.add_argument("--models", type=Path, help="folder with a registry.yaml (default: the shipped models)")
    parser.add_argument("--model", default=SELECTOR, help="selector that proposes keyframes, learned or events")
    options = parser.parse_args(words[2:])
    try:
        return _serve(options)
    except KeyboardInterrupt:  # uvicorn hands on, at its end, the signal that it has obeyed
        return 0
    except (BagError, AnnotationError, StackError, OSError) as error:
        print(f"kc-vla annotate page: {error}", file=sys.stderr)
        return 1


def _called(host: str) -> str:
    """Return the address by which a browser reaches the machine that listens at `host`."""
    if host in ("127.0.0.1", "::1", "0.0.0.0", "::"):
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _serve(options: argparse.Namespace) -> int:
    import uvicorn  # heavy imports only where the page is served

    from kc_vla.annotate.background_jobs import Work
    from kc_vla.annotate.library import Library
    from kc_vla.annotate.server import create_app
    from kc_vla.web.access import HERE
    from kc_vla.web.serving import THIS_MACHINE, listening

    cache_home()  # better told now than with the first bag that is opened
    library = Library(options.path)
    with listening(options.host, options.port, "choose another --port") as listener:
        host, port = options.host, listener.getsockname()[1]
        if host not in THIS_MACHINE:
            print(
                f"WARNING: every client that reaches {host} can see images and write annotations: there is no password"
            )
        names = {host, *HERE} | ({"*"} if host in ("0.0.0.0", "::") else set())
        work = Work(library, NetworkOptions(options.model, str(options.models or "")))
        app = create_app(library, work, options.author, sorted(names))
        many = f"{len(library.entries)} bag{'s' if len(library.entries) > 1 else ''}"
        print(f"{many} of {options.path}: open http://{_called(host)}:{port} (Ctrl-C ends it)", flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
        server.run(sockets=[listener])
    return 0
