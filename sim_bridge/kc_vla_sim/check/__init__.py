"""`kc-vla sim check`: whether experts succeed, the present frame reveals no answer, and episodes repeat exactly.

`command` is what `kc-vla sim check` runs; `episode` plays one episode and serves tests as well.
"""

from kc_vla_sim.check.episode import CheckedEpisode, run_episode

__all__ = ["CheckedEpisode", "run_episode"]
