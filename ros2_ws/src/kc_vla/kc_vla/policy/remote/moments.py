"""The moments that a server is shown: as it wants them, each made once."""

from __future__ import annotations

import numpy as np

from kc_vla.policy.interface import Felt, PolicyError, PolicyInput, Seen
from kc_vla.policy.remote.mapping import Arrays, PolicyMapping
from kc_vla.policy.remote.path import Body


class Moments:
    """Of the running episode."""

    def __init__(self, mapping: PolicyMapping) -> None:
        """Args: `mapping`, of robot and server."""
        self._mapping = mapping
        self._kept: dict[int, Arrays] = {}

    def begin(self) -> None:
        """Forget the episode before."""
        self._kept.clear()

    def now(self, given: PolicyInput) -> Arrays:
        """What is seen and felt at present; PolicyError for a view that is missing."""
        return self._made(given)

    def kept(self, given: PolicyInput, keyframes: list[Seen]) -> list[Arrays]:
        """What was seen and felt in each of the keyframes; PolicyError likewise."""
        known = {seen.frame for seen in given.keyframes}
        self._kept = {frame: arrays for frame, arrays in self._kept.items() if frame in known}
        for seen in keyframes:
            if seen.frame not in self._kept:
                self._kept[seen.frame] = self._made(seen)
        return [self._kept[seen.frame] for seen in keyframes]

    def body(self, given: PolicyInput) -> Body:
        """Where the robot is."""
        return self._body(given.felt)

    def _made(self, seen: PolicyInput | Seen) -> Arrays:
        wanted = {look.view for look in self._mapping.pictures.values()}
        if missing := sorted(wanted - seen.views.keys()):
            raise PolicyError(f"the mapping '{self._mapping.name}' shows {', '.join(missing)}: there is none here")
        return self._mapping.sent(seen.views, self._body(seen.felt))

    def _body(self, felt: Felt | None) -> Body:
        if felt is None:
            raise PolicyError("nobody told what the robot feels: tool pose and joints")
        rig = self._mapping.rig
        share = float(rig.gripper_share(felt.joints))
        return Body(felt.pose, np.asarray(felt.joints[: len(rig.joints)], float), share)
