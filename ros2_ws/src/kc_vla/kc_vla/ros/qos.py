"""The quality of service of each kind of topic, in one place (both ends of a topic use the same)."""

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

_KEEP = HistoryPolicy.KEEP_LAST

IMAGE = QoSProfile(history=_KEEP, depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
STATE = QoSProfile(history=_KEEP, depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
EVENT = QoSProfile(history=_KEEP, depth=100, reliability=ReliabilityPolicy.RELIABLE)
EVENT_LOG = QoSProfile(
    history=_KEEP,
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""Events that a reader needs from the start of the episode, also if it starts, or starts again, later."""
WATCHED = QoSProfile(history=_KEEP, depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Profile of a reader that only observes a topic: no publisher waits for it."""
STATUS = QoSProfile(
    history=_KEEP,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
E_STOP = QoSProfile(history=_KEEP, depth=10, reliability=ReliabilityPolicy.RELIABLE)


def command(period_s: float) -> QoSProfile:
    """Return the profile of arm commands made every `period_s`: an old one is never delivered late."""
    return QoSProfile(
        history=_KEEP,
        depth=1,
        reliability=ReliabilityPolicy.RELIABLE,
        lifespan=Duration(seconds=10 * period_s),
    )
