"""A run as it lies on the disk: the table that it left, and the folders of its episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kc_vla.bags.errors import BagMissingError, ReportError
from kc_vla.core.untrusted import parsed_json, read_text
from kc_vla.reports.files import SUMMARY
from kc_vla.reports.run.episode import BAG, RunEpisode, episode_in, is_episode
from kc_vla.reports.run.fields import Fields

_TABLES = "run-*.json"


@dataclass(frozen=True)
class RunFolder:
    """A run, or all that is in one folder.

    Attributes:
        folder: folder that has the folders of the episodes.
        name: title of the page.
        page: file of the page.
        episodes: episodes in the order of the run; for a whole folder in the order of their names.
        notes: a line for each problem of the run as a whole.
    """

    folder: Path
    name: str
    page: Path
    episodes: tuple[RunEpisode, ...]
    notes: tuple[str, ...] = ()

    def without_summary(self) -> list[Path]:
        """Return the folders of episodes that have a bag, and no summary of it."""
        bare = (each.name for each in self.episodes if BAG in each.files and SUMMARY not in each.files)
        return [self.folder / name for name in bare]


def is_table(path: Path) -> bool:
    """Return whether this is the table of a run, by its name."""
    return path.match(_TABLES) and path.is_file()


def is_run_folder(path: Path) -> bool:
    """Return whether a folder holds folders of episodes, or the table of a run."""
    return path.is_dir() and (any(_tables(path)) or any(_episodes(path)))


def run_of(path: Path) -> RunFolder:
    """Read the run of a table, or all that is in a folder.

    Raises:
        BagMissingError: there is neither.
        ReportError: the table cannot be read.
    """
    if is_table(path):
        try:
            return _run_of_table(path)
        except (OSError, ValueError) as error:
            raise ReportError(
                f"{path} cannot be used: {error}; kc-vla report {path.parent} makes a page of all that is there"
            ) from error
    if not is_run_folder(path):
        raise BagMissingError(f"{path} is neither the table of a run nor a folder with episodes")
    lines: dict[str, Fields] = {}
    notes = []
    for table in sorted(_tables(path)):
        try:
            lines |= dict(_lines(Fields(parsed_json(read_text(table)))))
        except (OSError, ValueError) as error:
            notes.append(f"{table.name} cannot be used: {error}")
    names = sorted({*(folder.name for folder in _episodes(path)), *lines})
    episodes = tuple(episode_in(path / name, lines.get(name)) for name in names)
    return RunFolder(path, path.resolve().name, path / "index.html", episodes, tuple(notes))


def _run_of_table(path: Path) -> RunFolder:
    table, folder = Fields(parsed_json(read_text(path))), path.parent
    lines = list(_lines(table))
    notes = [f"stopped: {why}"] if (why := table.text("stopped")) else []
    planned = table.whole("planned")
    if planned is not None and planned > len(lines):
        notes.append(f"{len(lines)} of {planned} episodes were run: the run was interrupted or gave up")
    episodes = tuple(episode_in(folder / name, line) for name, line in lines)
    return RunFolder(folder, path.stem, path.with_suffix(".html"), episodes, tuple(notes))


def _lines(table: Fields) -> Iterator[tuple[str, Fields]]:
    """Yield name and line of each episode of a table.

    Raises:
        ValueError: one has a name that can be none of a folder beside the table.
    """
    for line in table.rows("table"):
        name = line.text("episode") or ""
        if not name or not name.isprintable() or "/" in name or name in (".", ".."):
            raise ValueError(f"an episode is called {name[:100]!r}, which is no name of a folder")
        yield name, line


def _tables(folder: Path) -> Iterator[Path]:
    return folder.glob(_TABLES)


def _episodes(folder: Path) -> Iterator[Path]:
    return (each for each in folder.iterdir() if each.is_dir() and is_episode(each))
