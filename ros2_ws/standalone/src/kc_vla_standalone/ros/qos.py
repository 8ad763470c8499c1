"""Quality of service for the commands: options on the command line, and adapting to the other side."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rclpy.duration import Duration
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSPresetProfiles,
    QoSProfile,
    ReliabilityPolicy,
)
from rclpy.topic_endpoint_info import TopicEndpointInfo


def add_qos_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options; what is not given is chosen by the command."""
    parser.add_argument("--qos-profile", choices=QoSPresetProfiles.short_keys(), help="preset to begin with")
    parser.add_argument("--qos-depth", type=int, help="queue size")
    parser.add_argument("--qos-history", choices=["system_default", "keep_last", "keep_all"])
    parser.add_argument("--qos-reliability", choices=["system_default", "reliable", "best_effort"])
    parser.add_argument("--qos-durability", choices=["system_default", "transient_local", "volatile"])


def profile_from(options: argparse.Namespace, default: QoSProfile) -> QoSProfile:
    """Return `default`, or the preset asked for, changed by the single options."""
    profile = default
    if options.qos_profile is not None:
        profile = QoSPresetProfiles.get_from_short_key(options.qos_profile)
    if options.qos_depth is not None:
        profile.depth = options.qos_depth
    if options.qos_history is not None:
        profile.history = HistoryPolicy.get_from_short_key(options.qos_history)
    if options.qos_reliability is not None:
        profile.reliability = ReliabilityPolicy.get_from_short_key(options.qos_reliability)
    if options.qos_durability is not None:
        profile.durability = DurabilityPolicy.get_from_short_key(options.qos_durability)
    return profile


def adapted_to(publishers: Sequence[TopicEndpointInfo], depth: int = 10) -> QoSProfile:
    """Return a profile that hears every publisher: the strongest demands that all of them fulfil."""
    profiles = [publisher.qos_profile for publisher in publishers]
    all_reliable = bool(profiles) and all(p.reliability == ReliabilityPolicy.RELIABLE for p in profiles)
    all_latched = bool(profiles) and all(p.durability == DurabilityPolicy.TRANSIENT_LOCAL for p in profiles)
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if all_reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if all_latched else DurabilityPolicy.VOLATILE,
    )


def describe_profile(profile: QoSProfile) -> list[str]:
    """Return the lines of `ros2 topic info --verbose` on a profile."""
    return [
        f"  Reliability: {profile.reliability.name}",
        f"  History (Depth): {_history(profile)}",
        f"  Durability: {profile.durability.name}",
        f"  Lifespan: {_duration(profile.lifespan)}",
        f"  Deadline: {_duration(profile.deadline)}",
        f"  Liveliness: {profile.liveliness.name}",
        f"  Liveliness lease duration: {_duration(profile.liveliness_lease_duration)}",
    ]


def _history(profile: QoSProfile) -> str:
    if profile.history == HistoryPolicy.KEEP_LAST:
        return f"{profile.history.name} ({profile.depth})"
    return str(profile.history.name)


def _duration(duration: Duration) -> str:
    # The middleware writes "for ever" as the greatest number of seconds that fits.
    infinite_ns = 2**63 - 1
    return "Infinite" if duration.nanoseconds >= infinite_ns else f"{duration.nanoseconds} nanoseconds"
