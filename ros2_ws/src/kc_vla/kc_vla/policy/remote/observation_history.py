"""The moments that a server is shown: as it wants them, each made once."""

from __future__ import annotations

import numpy as np

from kc_vla.policy.interface import PolicyError, PolicyInput, Proprioception, RememberedFrame
from kc_vla.policy.remote.mapping import Arrays, PolicyMapping
from kc_vla.policy.remote.path import RobotPose


class ObservationHistory:
    """The observations of the running episode as a server wants them, each made once."""

    def __init__(self, mapping: PolicyMapping) -> None:
        """Begin without an episode.

        Args:
            mapping: of robot and server.
        """
        self._mapping = mapping
        self._kept: dict[int, Arrays] = {}

    def begin(self) -> None:
        """Forget the episode before."""
        self._kept.clear()

    def now(self, given: PolicyInput) -> Arrays:
        """Return the present observation; PolicyError for a view that is missing."""
        return self._made(given)

    def kept(self, given: PolicyInput, keyframes: list[RememberedFrame]) -> list[Arrays]:
        """Return the observation of each of the keyframes; PolicyError likewise."""
        known = {seen.frame for seen in given.keyframes}
        self._kept = {frame: arrays for frame, arrays in self._kept.items() if frame in known}
        for seen in keyframes:
            if seen.frame not in self._kept:
                self._kept[seen.frame] = self._made(seen)
        return [self._kept[seen.frame] for seen in keyframes]

    def body(self, given: PolicyInput) -> RobotPose:
        """Return where the robot is."""
        return self._body(given.felt)

    def _made(self, seen: PolicyInput | RememberedFrame) -> Arrays:
        wanted = {look.view for look in self._mapping.pictures.values()}
        if missing := sorted(wanted - seen.views.keys()):
            raise PolicyError(f"the mapping '{self._mapping.name}' shows {', '.join(missing)}: there is none here")
        return self._mapping.sent(seen.views, self._body(seen.felt))

    def _body(self, felt: Proprioception | None) -> RobotPose:
        if felt is None:
            raise PolicyError("the measured state is missing: tool pose and joints")
        robot = self._mapping.robot
        share = float(robot.gripper_share(felt.joints))
        return RobotPose(felt.pose, np.asarray(felt.joints[: len(robot.joints)], float), share)
