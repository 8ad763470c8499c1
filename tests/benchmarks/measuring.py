"""What every benchmark shares: the spread of a sample, a table, and what is known of the machine."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import psutil


@dataclass(frozen=True)
class Spread:
    """Of one sample, in the unit of the sample."""

    count: int
    p50: float
    p99: float
    maximum: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Summarise a sample; raises `MeasurementError` for an empty one."""
        sample = np.fromiter(values, float)
        if not sample.size:
            raise MeasurementError("nothing was measured: do the nodes run? Their output is above")
        p50, p99, maximum = np.percentile(sample, (50, 99, 100))
        return cls(sample.size, float(p50), float(p99), float(maximum))

    def __str__(self) -> str:
        """Return "p50 / p99 / max"."""
        return " / ".join(_number(value) for value in (self.p50, self.p99, self.maximum))


@dataclass(frozen=True)
class Table:
    """What one benchmark found: rows of the same keys, which are the heads of the columns."""

    title: str
    rows: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = field(default_factory=tuple)

    def markdown(self) -> str:
        """Return title, table and notes."""
        heads = list(self.rows[0])
        lines = [f"### {self.title}", "", _line(heads), _line(["---"] * len(heads))]
        lines += [_line([_text(row[head]) for head in heads]) for row in self.rows]
        return "\n".join([*lines, "", *(f"- {note}" for note in self.notes)]) + "\n"

    def write(self, folder: Path, name: str) -> None:
        """Write `<name>.md` and `<name>.json` into the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(self.markdown())
        found = {"title": self.title, "machine": machine(), "rows": self.rows, "notes": self.notes}
        (folder / f"{name}.json").write_text(json.dumps(found, indent=2, default=_plain) + "\n")


class MeasurementError(RuntimeError):
    """A benchmark could not measure; the text says why."""


def machine() -> dict[str, Any]:
    """Return what a reader of a figure needs to know of this machine and of what else it does."""
    models = [line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    return {
        "date": f"{datetime.now():%Y-%m-%d %H:%M}",
        "processor": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "memory_GB": round(psutil.virtual_memory().total / 1e9, 1),
        "load_average_1min": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
    }


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def _text(value: Any) -> str:
    return _number(value) if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Spread):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
