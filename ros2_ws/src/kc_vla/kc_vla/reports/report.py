"""Makes the report of a recorded episode: video, contact sheet and summary, from the bag alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kc_vla.bags.errors import ReportError
from kc_vla.bags.lock import require_finished
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.reports.contact_sheet import write_contact_sheet
from kc_vla.reports.files import CONTACT_SHEET, PLAN, POSTER, SUMMARY, VIDEO
from kc_vla.reports.plan_report import plan_report
from kc_vla.reports.summary import summarize
from kc_vla.reports.video import write_video


@dataclass(frozen=True)
class EpisodeReport:
    """What was made.

    Attributes:
        summary: content of summary.json.
        summary_path: where it is.
        video: the MP4; None where the bag holds no images, or none was wanted.
        contact_sheet: the PNG; likewise.
        plan: what a planner did, as Markdown; None without one.
        notes: one line for each thing that is not as it should be (a torn bag, no images, no result).
    """

    summary: dict[str, Any]
    summary_path: Path
    video: Path | None
    contact_sheet: Path | None
    plan: Path | None
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return lines for a person: where each file is, and what is not as it should be."""
        files = {"video": self.video, "keyframes": self.contact_sheet, "plan": self.plan, "summary": self.summary_path}
        made = [f"{name + ':':<11}{path}" for name, path in files.items() if path is not None]
        return [*made, *(f"note:      {note}" for note in self.notes)]


def write_report(bag: Path, out: Path, pictures: bool = True) -> EpisodeReport:
    """Write the report of the episode in `bag` into the folder `out`, made if missing; its summary alone if asked so.

    Raises:
        BagReadError: the bag cannot be read, is being recorded, or holds no episode.
        ReportError: a file of the report cannot be written.
    """
    require_finished(bag)
    episode = RecordedEpisode(bag)
    notes = list(episode.damages)
    if episode.result is None:
        notes.append(f"{bag} ends before the result of the episode")
    summary = summarize(episode)
    drawn = pictures and bool(episode.frames)
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / SUMMARY).write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        if episode.instructions:
            (out / PLAN).write_text(plan_report(episode), encoding="utf-8")
        if drawn:
            write_contact_sheet(episode, out / CONTACT_SHEET)
            write_video(episode, out / VIDEO, out / POSTER)
        elif pictures:
            notes.append(f"{bag} holds no pictures of the first view: there is no video and no contact sheet")
    except OSError as error:
        why = error.strerror or str(error)
        raise ReportError(f"cannot write the report into {out}: {why}; free space or choose another folder") from error
    return EpisodeReport(
        summary=summary,
        summary_path=out / SUMMARY,
        video=out / VIDEO if drawn else None,
        contact_sheet=out / CONTACT_SHEET if drawn else None,
        plan=out / PLAN if episode.instructions else None,
        notes=tuple(notes),
    )
