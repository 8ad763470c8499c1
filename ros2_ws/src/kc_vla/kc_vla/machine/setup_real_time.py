"""Lets a user's control loop run before all others, with its memory in RAM: a file of limits.d."""

from __future__ import annotations

import pwd
import re
from collections.abc import Callable
from pathlib import Path

from kc_vla.machine.own_files import writing_ours
from kc_vla.machine.plan import SetupError, SetupPlan
from kc_vla.machine.system import PRIORITY

LIMITS = Path("etc/security/limits.d")
"""Below the root of the file system; of files there the system takes those that end in .conf."""


def plan_real_time(
    user: str,
    root: Path = Path("/"),
    replace: bool = False,
    known: Callable[[str], object] = pwd.getpwnam,
) -> SetupPlan:
    """Return what is to be done so that `user` may; nothing where the file says so already.

    Args:
        user: name of a user.
        root: what /etc is below.
        replace: take the place of a file of another hand.
        known: raises KeyError for a user whom the system does not know.

    Raises:
        SetupError: no such user, or the file is of another hand.
    """
    if not re.fullmatch(r"[\w.][\w.-]{0,31}\$?", user, re.ASCII):
        raise SetupError(f"no user can be called {user[:40]!r}")
    try:
        known(user)
    except KeyError:
        raise SetupError(f"there is no user '{user}' on this machine: name another with --user") from None
    body = f"{user} - rtprio {PRIORITY}\n{user} - memlock unlimited\n"
    plan = writing_ours(root / LIMITS / f"kc_vla-{user}.conf", body, replace)
    after = (
        "log in again, also on the desktop, or start the machine again; then `kc-vla doctor` says whether it counts",
    )
    return plan if not plan.steps else SetupPlan(plan.steps, plan.told, after)
