"""What a launch writes: the screen (stdout), `launch.log`, and log files of single processes.

Folder of the log files: `$ROS_LOG_DIR`, else `$ROS_HOME/log`, else `~/.ros/log`; one sub-folder a launch.
"""

from __future__ import annotations

import datetime
import logging
import os
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

_SCREEN_FORMAT = "[%(levelname)s] [%(name)s]: %(message)s"
_FILE_FORMAT = "%(created).7f [%(levelname)s] [%(name)s] %(message)s"

# Where stdout and stderr of a process go, by the value of its `output`.
_SINKS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "screen": (frozenset({"screen"}), frozenset({"screen"})),
    "log": (frozenset({"log"}), frozenset({"log", "screen"})),
    "both": (frozenset({"log", "screen"}), frozenset({"log", "screen"})),
    "own_log": (frozenset({"own_log"}), frozenset({"own_log"})),
    "full": (frozenset({"log", "own_log", "screen"}), frozenset({"log", "own_log", "screen"})),
}


class _ScreenHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to stdout; when the reader is gone it says so once and drops the rest."""

    on_reader_gone: Callable[[], None] | None = None

    def __init__(self) -> None:
        super().__init__(sys.stdout)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (logging's name)
        if not isinstance(sys.exc_info()[1], BrokenPipeError):
            super().handleError(record)
            return
        # Python flushes stdout once more at its exit: let that go nowhere instead of failing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if self.on_reader_gone is not None:
            self.on_reader_gone()


class _LaunchLogging:
    """The handlers of this process; files are opened when a launch begins."""

    def __init__(self) -> None:
        self.screen = _ScreenHandler()
        self.screen.setFormatter(logging.Formatter(_SCREEN_FORMAT))
        self.plain_screen = _ScreenHandler()
        self.folder: Path | None = None
        self.file: logging.FileHandler | None = None
        self.level = logging.INFO


launch_config = _LaunchLogging()


def get_logger(name: str | None = None) -> logging.Logger:
    """Return the logger of a part of the launch or of a process; it writes to screen and launch.log."""
    logger = logging.getLogger(f"launch_screen.{name or 'launch'}")
    logger.name = name or "launch"
    logger.propagate = False
    logger.setLevel(launch_config.level)
    wanted = [launch_config.screen] + ([launch_config.file] if launch_config.file is not None else [])
    logger.handlers = list(wanted)
    return logger


def _begin_launch(*, debug: bool, on_reader_gone: Callable[[], None]) -> None:
    """Open the log folder of this launch and set the level; without a writable folder, say so and go on."""
    launch_config.level = logging.DEBUG if debug else logging.INFO
    for handler in (launch_config.screen, launch_config.plain_screen):
        handler.on_reader_gone = on_reader_gone
    folder = _log_root() / _folder_name()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        launch_config.file = logging.FileHandler(folder / "launch.log", encoding="utf-8")
    except OSError as error:
        get_logger("launch").warning(
            f"no log files: cannot write to '{folder}' ({error.strerror}); set ROS_LOG_DIR to a writable folder"
        )
        return
    launch_config.folder = folder
    launch_config.file.setFormatter(logging.Formatter(_FILE_FORMAT))
    get_logger("launch").info(f"All log files can be found below {folder}")
    get_logger("launch").info(f"Default logging verbosity is set to {logging.getLevelName(launch_config.level)}")


def get_output_loggers(
    process_name: str, output_config: str | Mapping[str, str | Iterable[str]]
) -> tuple[logging.Logger, logging.Logger]:
    """Return the loggers of a process's stdout and stderr; ValueError for an unknown `output`."""
    stdout, stderr = _sinks_of(output_config)
    return _output_logger(process_name, "stdout", stdout), _output_logger(process_name, "stderr", stderr)


def _sinks_of(output_config: str | Mapping[str, str | Iterable[str]]) -> tuple[frozenset[str], frozenset[str]]:
    if isinstance(output_config, str):
        if output_config not in _SINKS:
            raise ValueError(f"output has to be one of {sorted(_SINKS)}, got '{output_config}'")
        return _SINKS[output_config]
    sinks = {"stdout": frozenset[str](), "stderr": frozenset[str]()}
    for stream, names in output_config.items():
        listed = frozenset([names] if isinstance(names, str) else names)
        unknown = listed - {"screen", "log", "own_log"}
        if stream not in ("stdout", "stderr", "both") or unknown:
            raise ValueError(
                f"output maps stdout, stderr or both to screen, log or own_log, got {dict(output_config)!r}"
            )
        for key in ("stdout", "stderr") if stream == "both" else (stream,):
            sinks[key] |= listed
    return sinks["stdout"], sinks["stderr"]


def _output_logger(process_name: str, stream: str, sinks: frozenset[str]) -> logging.Logger:
    logger = logging.getLogger(f"launch_output.{process_name}.{stream}")
    logger.name = f"{process_name}-{stream}"
    logger.propagate = False
    logger.setLevel(logging.INFO)
    logger.handlers = []
    if "screen" in sinks:
        logger.addHandler(launch_config.plain_screen)
    if "log" in sinks and launch_config.file is not None:
        logger.addHandler(launch_config.file)
    if "own_log" in sinks and launch_config.folder is not None:
        own = logging.FileHandler(launch_config.folder / f"{process_name}-{stream}.log", encoding="utf-8", delay=True)
        logger.addHandler(own)
    return logger


def _log_root() -> Path:
    if os.environ.get("ROS_LOG_DIR"):
        return Path(os.environ["ROS_LOG_DIR"]).expanduser()
    return Path(os.environ.get("ROS_HOME") or "~/.ros").expanduser() / "log"


def _folder_name() -> str:
    stamp = datetime.datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")
    return f"{stamp}-{socket.gethostname()}-{os.getpid()}"
