"""The contact sheet: every keyframe of an episode on one image, beside the ground truth where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2

from kc_vla.bags.errors import ReportError
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.keyframe_match import KeyframeMatch, match_keyframes
from kc_vla.media.canvas import (
    AMBER,
    GREEN,
    MUTED,
    OUTLINE,
    PANEL,
    RED,
    TEXT,
    Canvas,
    Colour,
    shortened,
    text_width,
)
from kc_vla.reports.verdict import success_of, verdict

_MARGIN = 28
_HEAD = 96
_VIEW = 200
_GAP = 8
_PAD = 12
_FEWEST_ACROSS = 2
"""Views that a card has room for, however few there are: below them stands text."""
_CAPTION = 58
_TRUTH_VIEW = 84
_COLUMNS = 3


def write_contact_sheet(episode: RecordedEpisode, path: Path) -> None:
    """Write the contact sheet of `episode`, which has at least one frame, to `path` (.png).

    Raises:
        ReportError: the file cannot be written.
    """
    done, png = cv2.imencode(".png", cv2.cvtColor(draw_contact_sheet(episode).pixels, cv2.COLOR_RGB2BGR))
    if not done:
        raise ReportError(f"the contact sheet of {episode.bag} cannot be encoded as PNG")
    path.write_bytes(png.tobytes())


def draw_contact_sheet(episode: RecordedEpisode) -> Canvas:
    """Return the contact sheet as an image."""
    matches = match_keyframes(episode)
    rows = [matches[start : start + _COLUMNS] for start in range(0, len(matches), _COLUMNS)]
    heights = [_card_height(row) for row in rows]
    columns, card = max(1, min(_COLUMNS, len(matches))), _across(episode) + 2 * _PAD
    width = max(_MARGIN * 2 + columns * (card + _MARGIN) - _MARGIN, 2 * card)
    canvas = Canvas(width, _HEAD + sum(heights) + _MARGIN * max(1, len(rows)) + (0 if rows else 60))
    _draw_title(canvas, episode, matches)
    y = _HEAD
    for row, height in zip(rows, heights, strict=True):
        for column, match in enumerate(row):
            x = _MARGIN + column * (card + _MARGIN)
            canvas.box(x, y, card, height, PANEL)
            _draw_card(canvas, x, y, episode, match)
        y += height + _MARGIN
    if not matches:
        canvas.text(_MARGIN, _HEAD + 20, "No keyframe was found.", 20, MUTED)
    return canvas


def _across(episode: RecordedEpisode) -> int:
    """Return how wide all views are side by side."""
    return max(_FEWEST_ACROSS, len(episode.views)) * (_VIEW + _GAP) - _GAP


def _card_height(row: Sequence[KeyframeMatch]) -> int:
    """Return the height of the cards of one row: those that differ from the ground truth show it below."""
    return _PAD + _VIEW + _CAPTION + (_TRUTH_VIEW + _PAD if any(match.differs for match in row) else 0)


def _draw_title(canvas: Canvas, episode: RecordedEpisode, matches: tuple[KeyframeMatch, ...]) -> None:
    status, result = episode.status, episode.result
    width = canvas.pixels.shape[1]
    title = f"Keyframes of {status.title}"
    word, colour = verdict(episode)
    x = _MARGIN + canvas.text(_MARGIN, 20, title, 26, bold=True) + 16
    canvas.chip(x, 22, word, 16, colour)
    parts = [status.episode_id]
    if result is not None:
        parts += [f"{result.steps} steps in {result.duration_s:.2f} s"]
        parts += [] if success_of(episode) else [result.reason]
    if any(match.oracle_frame is not None for match in matches):
        equal = sum(match.difference == 0 for match in matches)
        parts.append(f"{equal} of {len(matches)} equal to the ground truth")
    canvas.text(_MARGIN, 58, shortened("  ·  ".join(parts), 15, width - 2 * _MARGIN), 15, MUTED)


def _draw_card(canvas: Canvas, x: int, y: int, episode: RecordedEpisode, match: KeyframeMatch) -> None:
    left, top, across = x + _PAD, y + _PAD, _across(episode)
    _draw_views(canvas, left, top, _VIEW, episode, match.frame)
    below = top + _VIEW + 8
    verdict, colour = _verdict(match)
    room = across - text_width(verdict, 14, bold=True) - 12
    canvas.text(left, below, shortened(match.label, 18, room, bold=True), 18, TEXT, bold=True)
    canvas.text(left + across, below + 3, verdict, 14, colour, bold=True, anchor="right")
    canvas.text(left, below + 25, _facts(episode, match), 14, MUTED)
    if match.differs:
        second = y + _PAD + _VIEW + _CAPTION
        canvas.box(left, second - 4, across, 1, OUTLINE)
        _draw_views(canvas, left, second + 4, _TRUTH_VIEW, episode, match.oracle_frame)
        beside = left + len(episode.views) * (_TRUTH_VIEW + _GAP) + 6
        canvas.text(beside, second + 20, "ground truth", 14, MUTED)
        seconds = (match.oracle_frame or 0) * episode.status.frame_period_s
        canvas.text(beside, second + 42, f"frame {match.oracle_frame}  ·  {seconds:.2f} s", 14, TEXT)


def _draw_views(canvas: Canvas, x: int, y: int, side: int, episode: RecordedEpisode, index: int | None) -> None:
    """Draw the views of a frame side by side, or empty places for what the bag does not have."""
    frame = next((f for f in episode.frames if f.index == index), None)
    for column, view in enumerate(episode.views):
        ref = frame.pictures.get(view) if frame is not None else None
        left = x + column * (side + _GAP)
        if ref is None:
            canvas.frame(left, y, side, side, OUTLINE)
            canvas.text(left + side // 2, y + side // 2 - 8, "no picture", 13, MUTED, anchor="middle")
        else:
            canvas.picture(left, y, side, episode.image(ref))


def _facts(episode: RecordedEpisode, match: KeyframeMatch) -> str:
    if match.frame is None:
        return "not found"
    parts = [f"frame {match.frame}", f"{match.frame * episode.status.frame_period_s:.2f} s"]
    parts += [f"score {match.score:.2f}"] if match.score is not None else []
    return "  ·  ".join(parts)


def _verdict(match: KeyframeMatch) -> tuple[str, Colour]:
    """Return what the ground truth says of this keyframe, and its color."""
    if match.frame is None:
        return f"missed (ground truth: {match.oracle_frame})", RED
    if not match.committed:
        return "never confirmed", AMBER
    if match.difference is None:
        return ("not in the ground truth", RED) if match.has_truth else ("confirmed", GREEN)
    if match.difference == 0:
        return f"= ground truth ({match.oracle_frame})", GREEN
    late = "late" if match.difference > 0 else "early"
    frames = abs(match.difference)
    return f"{frames} frame{'s' if frames > 1 else ''} {late}", AMBER
