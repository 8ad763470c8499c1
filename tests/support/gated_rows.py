"""Puts what is `gated` into the tables of the process that imports this: a row each, and nothing else knows of it."""

from __future__ import annotations

from pathlib import Path

from gated import Gate, GatedBackend, GatedSource

from kc_vla.core.choice import Choice
from kc_vla.keyframes.sources import SOURCES
from kc_vla.policy.backends import BACKENDS

BACKENDS["gated"] = Choice("a gate", lambda settings: GatedBackend(Gate(Path(settings.script)), settings.horizon))
SOURCES["gated"] = Choice("a gate", lambda settings: GatedSource(Gate(Path(settings.models_folder))))
