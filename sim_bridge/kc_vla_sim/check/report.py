"""What the checks found: as a table for people, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from kc_vla.core.shares import Share
from kc_vla_sim.check.aliasing import ProbeResult
from kc_vla_sim.check.determinism import DeterminismResult
from kc_vla_sim.check.experts import TARGET, ExpertResult
from kc_vla_sim.probes.verdict import LEAST_WITH_KEYFRAMES, MOST_ABOVE_CHANCE, Verdict


@dataclass(frozen=True)
class CheckReport:
    """All results of one run; a list is empty where its check was not asked for.

    Attributes:
        variant: of the tasks.
        split: that experts and determinism took their seeds from.
        unprobed: tasks that the probes were asked about, though the task table has no moment of decision of theirs.
    """

    variant: str
    split: str
    experts: list[ExpertResult]
    probes: list[ProbeResult]
    determinism: list[DeterminismResult]
    unprobed: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Return whether all that was checked is as it must be."""
        checked: list[ExpertResult | Verdict | DeterminismResult] = [
            *self.experts,
            *(probe.verdict for probe in self.probes),
            *self.determinism,
        ]
        return all(result.holds for result in checked)

    def lines(self) -> Iterator[str]:
        """Yield the table."""
        yield f"variant {self.variant}, {self.split} seeds"
        if self.experts:
            yield ""
            yield f"experts: at least {TARGET:.0%} must succeed"
            yield f"  {'task':10s} {'executed':18s} {'success':>9s} {'steps':>6s}"
            for result in self.experts:
                yield from _expert_lines(result)
        if self.probes:
            yield ""
            yield (
                f"probes: at most {100 * MOST_ABOVE_CHANCE:.0f} points above chance without keyframes, "
                f"above {LEAST_WITH_KEYFRAMES:.0%} with them (95 % interval; of test decisions)"
            )
            titles = ("frame", "frame + time", "frame + keyframes")
            yield f"  {'task':10s} {'chance':>7s}  " + "  ".join(f"{title:19s}" for title in titles) + "  decisions"
            for probe in self.probes:
                yield _probe_line(probe)
        for task in self.unprobed:
            yield f"  {task:10s} not probed: in the task table it has no moments of decision"
        if self.determinism:
            yield ""
            yield "determinism: states and pictures of a seed, played twice, must be byte-equal"
            for repeat in self.determinism:
                told = "" if repeat.holds else f"  different: seeds {list(repeat.different)}"
                equal = len(repeat.seeds) - len(repeat.different)
                yield f"  {repeat.task:10s} {equal:3d}/{len(repeat.seeds)} equal  {_mark(repeat.holds)}{told}"
        yield ""
        yield "all targets hold" if self.holds else "NOT all targets hold"

    def as_json(self) -> dict[str, Any]:
        """Return all results and what follows from them, as plain values."""
        return {
            "variant": self.variant,
            "split": self.split,
            "holds": self.holds,
            "experts": [
                {
                    "task": result.task,
                    "mode": result.mode,
                    "latency_steps": result.latency,
                    "successes": result.successes,
                    "episodes": len(result.outcomes),
                    "median_steps": result.median_steps,
                    "failures": result.failures,
                    "holds": result.holds,
                }
                for result in self.experts
            ],
            "probes": [
                {
                    **{key: value for key, value in asdict(probe).items() if key != "verdict"},
                    "chance": probe.verdict.chance,
                    "accuracies": {
                        given: {"right": told.right, "asked": told.of, "interval": told.interval, "share": told.share}
                        for given, told in probe.verdict.accuracies.items()
                    },
                    "holds": probe.verdict.holds,
                }
                for probe in self.probes
            ],
            "determinism": [{**asdict(repeat), "holds": repeat.holds} for repeat in self.determinism],
        }


def _expert_lines(result: ExpertResult) -> Iterator[str]:
    way = "every step" if result.mode == "step" else f"chunks, {result.latency} late"
    count = f"{result.successes}/{len(result.outcomes)}"
    yield f"  {result.task:10s} {way:18s} {count:>9s} {result.median_steps:6d}  {_mark(result.holds)}"
    for reason, seeds in result.failures.items():
        yield f"  {'':10s}   {len(seeds)} x {reason}: seeds {seeds}"


def _probe_line(probe: ProbeResult) -> str:
    verdict = probe.verdict
    told = "  ".join(f"{_told(accuracy):19s}" for accuracy in verdict.accuracies.values())
    asked = next(iter(verdict.accuracies.values())).of
    return f"  {probe.task:10s} {100 * verdict.chance:5.1f} %  {told}  {asked:9d}  {_mark(verdict.holds)}"


def _told(accuracy: Share) -> str:
    low, high = accuracy.interval
    return f"{100 * accuracy.share:5.1f} ({100 * low:.1f}-{100 * high:.1f})"


def _mark(holds: bool) -> str:
    return "ok" if holds else "MISSED"
