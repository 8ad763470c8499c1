"""How the files of an episode's report are called, in the folder of the episode."""

from __future__ import annotations

SUMMARY = "summary.json"
VIDEO = "episode.mp4"
POSTER = "poster.jpg"
"""What a page shows in the place of the video before it is played: its end."""
CONTACT_SHEET = "keyframes.png"
PLAN = "report.md"
"""What a planner did, of an episode with one: as the household calls its report."""
