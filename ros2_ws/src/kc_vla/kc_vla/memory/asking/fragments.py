"""Parts of patterns that several forms of questions share."""

from __future__ import annotations

from kc_vla.memory.asking.predicates import PREPOSITION

WE = r"(?:i|you|we|one|they|somebody|someone|anybody|anyone|people|the robot)"
GUESS = r"(?:can|could|might|may|would|should|shall|will|must)"
BE = r"(?:is|are|was|were)"
HOME = r"(?:(?:the|this|our|my|your) (?:whole |entire )?(?:house|home|flat|apartment|place))"
LYING = (
    r"(?:lying|standing|sitting|kept|stored|placed|put|thrown|hidden|left|located|found|resting|around|about|lie|lies"
    r"|stand|sit|seen|all|there|been|be)"
)
IN_PLACE = rf"(?P<pl>(?:{PREPOSITION}) .+|upstairs|downstairs)"
SEE = (
    r"(?:have|got|own|see|seen|saw|come across|came across|know(?: of| about)?|remember|keep|kept|notice|noticed|find"
    r"|found|spot|spotted|met|encounter|encountered|got hold of|possess|stock)"
)
ROOM = (
    r"(?:room|place|area|floor|storey|location|spot|container|drawer|cabinet|cupboard|shelf|table|surface|receptacle"
    r"|part of the (?:house|home)|piece of furniture|counter|bed|chair)"
)
