"""Puts what is `gated` into the tables of the process that imports this, as a package with entry points does."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from gated import Gate, GatedBackend, GatedSource

from kc_vla.core.options import option
from kc_vla.keyframes.selectors import SelectorKind
from kc_vla.policy.backends import PolicyKind

sys.path.append(str(Path(__file__).with_name("gated_package")))


@dataclass(frozen=True)
class PolicyOptions:
    """Each node has a parameter that names the folder of the gate."""

    script: str = option("folder of the gate", "")


@dataclass(frozen=True)
class SelectorOptions:
    """Likewise."""

    models_folder: str = option("folder of the gate", "")


POLICY = PolicyKind(
    "a gate", PolicyOptions, lambda context, options: GatedBackend(Gate(Path(options.script)), context.horizon)
)
SELECTOR = SelectorKind("a gate", SelectorOptions, lambda options: GatedSource(Gate(Path(options.models_folder))))
