"""The training of a policy: rectified flow on the expert's plans, resumable to the step."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.core.tasks import meant_among
from kc_vla.keyframes.cameras import Camera
from kc_vla.learning.common.curves import draw_curves
from kc_vla.learning.common.device import Device
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.common.weights import first_trunk
from kc_vla.learning.policy.batches import know, losses, make_batch
from kc_vla.learning.policy.config import SHIPPED_EYES, PolicyConfig, as_dict
from kc_vla.learning.policy.event_keyframes import EventKeyframes
from kc_vla.learning.policy.image_backbone import STEM_STRIDE, ImageBackbone
from kc_vla.learning.policy.material import Material, find_material
from kc_vla.learning.policy.networks import Policy, Sizes, draw_chunks
from kc_vla.learning.policy.restoring import shipped_eyes
from kc_vla.learning.policy.run import CHECKPOINT, HOW, SCALE, STEM, PolicyRun, begun_with, scale_of
from kc_vla.learning.policy.samples import PolicySamples, balanced, held_out, load_samples, pictures_of
from kc_vla.policy.model import EVENTS
from kc_vla.policy.numbers import Space, space_of

STAGE = "policy"
_FITTED_ON = 256
"""Images whose main directions are taken."""
_JUDGED = 600
"""Frames that are looked at every so often."""
_EXECUTED = 8
"""Actions of a chunk that are executed before the next one comes, mostly."""


def train_policy(
    folder: Path,
    data: Sequence[Path],
    config: PolicyConfig,
    device: Device,
    init: PolicyRun | None = None,
    eyes: PolicyRun | None = None,
    from_takeovers: bool = False,
    cameras: tuple[Camera, ...] = (),
) -> PolicyRun:
    """Train a policy, or go on with an interrupted training.

    Args:
        folder: for the run.
        data: folders of episodes with plans, or of such folders.
        config: settings.
        device: what computes.
        init: a run to begin with the weights of, as after more episodes were collected; its backbone, and its data,
            are taken over. It may have been `condensed` or `structured` otherwise.
        eyes: a run to take over the backbone of alone, and what that has seen, as to compare the two runs.
        from_takeovers, cameras: see `find_material`.

    Raises:
        LearningError: data, weights or an earlier run do not fit; the message says what.
        DataSetError: an episode cannot be read.
    """
    events = EventKeyframes() if config.keyframes == EVENTS else None
    material = find_material(data, from_takeovers, events, cameras)
    facts: dict[str, Any] = {
        "train": [str(each) for each in data],
        "episodes": material.fingerprint,
        "instructions": material.instructions,
        "views": list(material.views),
        "robot": material.robot.name,
        "action": material.action.name.lower(),
    }
    if cameras:
        facts["cameras"] = [str(camera) for camera in cameras]
    if events is not None:
        facts["events"] = events.model
    if from_takeovers:
        driven = [episode.driven for episode in material.episodes if episode.driven]
        facts["takeovers"] = {"frames": sum(driven), "episodes": len(driven)}
        tqdm.write(f"A person drove in {sum(driven)} frames of {len(driven)} episodes")
    if init is not None:
        facts["init"] = str(init.folder)
        _require_of(init, material)
        _require_like(init, config)
        facts["instructions"] = _instructions(init, material)
    if eyes is not None:
        facts["stem"] = str(eyes.folder)
    before = init or eyes
    if before is not None:  # its stem is taken over, which came from where it says
        config = replace(config, init=before.config.init)
    arithmetic = {"device": device.name, "precision": device.precision}
    with PolicyRun.begun(folder, as_dict(config), facts, arithmetic) as run:
        stem = _stem(run, before, pictures_of(material, config.image_size, _FITTED_ON)).to(device.torch)
        samples = load_samples(material, facts["instructions"], stem, config, run.maps, device)
        space = space_of(material.robot, material.action)
        _Training(run, samples, _sizes(config, samples, len(run.instructions)), space, device, init).go()
        draw_curves(run.read_log(), folder / "curves.png", "step")
    return run


def _instructions(init: PolicyRun, material: Material) -> list[str]:
    """Return the instructions that the initial policy was trained on, in order, and then the new ones.

    There may be nothing among the data for the former.
    """
    new = [text for text in material.instructions if text not in init.instructions]
    for text in new:
        if (meant := meant_among(text, init.instructions)) is not None:  # a policy in use takes it for that
            raise DataError(
                f"'{text}' is another wording of '{meant}', which {init.folder} was trained on: write it so"
            )
    return [*init.instructions, *new]


def _require_of(init: PolicyRun, material: Material) -> None:
    """Check that the initial policy moves the robot of these data and looks at the same cameras.

    Raises:
        DataError: it does not.
    """
    if (init.robot, init.action) != (material.robot.name, material.action):
        raise DataError(f"{init.folder} moves another robot than that of these data, or moves it otherwise")
    if init.views != material.views:
        chosen = init.cameras or tuple(map(Camera, init.views))
        raise DataError(
            f"{init.folder} looks at {', '.join(init.views)}, and is to learn on with {', '.join(material.views)}: "
            f"take {' '.join(f'--camera {camera}' for camera in chosen)}, with what these data call them"
        )


def _require_like(init: PolicyRun, config: PolicyConfig) -> None:
    """Check that the initial policy's networks fit these settings, before any image is read.

    Raises:
        DataError: they do not.
    """
    theirs = init.config
    for name in ("image_size", "channels", "slots", "colors"):
        if getattr(theirs, name) != getattr(config, name):
            raise DataError(f"{init.folder} has {name} {getattr(theirs, name)}, not {getattr(config, name)}: set it so")


def _stem(run: PolicyRun, before: PolicyRun | None, pictures: Sequence[NDArray[np.uint8]]) -> ImageBackbone:
    """Return the run's stem; it is made, or taken over from the run `before`, if it is not there yet."""
    config = run.config
    torch.manual_seed(config.seed)
    if before is not None and run.load(STEM) is None:
        run.save(STEM, before.need(STEM, HOW))
    state = run.load(STEM)
    begins = "scratch" if state or config.init == SHIPPED_EYES else config.init
    trunk = first_trunk(begins, pictures[:64] if begins == "package" else [])
    stem = ImageBackbone(trunk.eval(), config.channels, config.colors)
    if state is None:
        if config.init == SHIPPED_EYES:
            shipped_eyes(stem)
        stem.fit(torch.from_numpy(np.stack(pictures)))
        run.save(STEM, {"stem": stem.state_dict()})
    else:
        stem.load_state_dict(state["stem"])
    return stem.eval()


def _sizes(config: PolicyConfig, samples: PolicySamples, instructions: int) -> Sizes:
    return Sizes(
        map=config.image_size // STEM_STRIDE,
        channels=samples.maps.shape[2],
        views=samples.maps.shape[1],
        slots=config.slots,
        instructions=instructions,
        state=samples.states.shape[1],
        action=samples.actions.shape[2],
        horizon=samples.actions.shape[1],
        place=samples.places.shape[1],
        condensed=config.condensed,
        structured=config.structured,
        colors=config.colors,
    )


class _Training:
    """One run, as far as it has come."""

    def __init__(
        self, run: PolicyRun, samples: PolicySamples, sizes: Sizes, space: Space, device: Device, init: PolicyRun | None
    ) -> None:
        self._run, self._samples, self._device, self._config = run, samples, device, run.config
        self._space = space
        torch.manual_seed(self._config.seed)
        self._policy = Policy(sizes, self._config.dropout).train().to(device.torch)
        if init is not None:
            begun = init.need(CHECKPOINT, HOW)
            free = {name: getattr(sizes, name) for name in ("condensed", "structured", "instructions")}
            if replace(Sizes(**begun["sizes"]), **free) != sizes:
                raise DataError(f"{init.folder} is of another size than these settings ask for: see its run.json")
            self._policy.load_state_dict(begun_with(self._policy.state_dict(), begun["average"]))
            self._samples = samples = samples.in_units_of(scale_of(begun))
        self._average = copy.deepcopy(self._policy).eval().requires_grad_(False)
        config = self._config
        self._optimizer = torch.optim.AdamW(
            self._policy.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        self._step = 0
        if (state := run.load(CHECKPOINT)) is not None:
            self._policy.load_state_dict(state["policy"])
            self._average.load_state_dict(state["average"])
            self._optimizer.load_state_dict(state["optimizer"])
            self._step = int(state["step"])
        held = held_out(samples, config.held_out)
        drawn = samples.shares > 0
        self._train, self._held = np.flatnonzero(~held & drawn), np.flatnonzero(held & drawn)
        if not (len(self._held) and len(self._train)):
            raise DataError("there are too few episodes to hold some out: collect more, at least two of each task")
        self._shares = balanced(samples, self._train)

    def go(self) -> None:
        """Take the steps that are left."""
        config, told = self._config, []
        with tqdm(total=config.steps, initial=self._step, desc="policy", unit="step") as bar:
            while self._step < config.steps:
                told.append(self._learn())
                self._step += 1
                bar.update()
                if self._step % config.every == 0 or self._step == config.steps:
                    flow, place, rest = np.mean(told, axis=0)
                    told = []
                    figures = {
                        "loss": float(flow),
                        "place_loss": float(place),
                        "rest_loss": float(rest),
                        **self._judge(),
                    }
                    bar.set_postfix({name: f"{value:.3f}" for name, value in figures.items()})
                    self._run.log(STAGE, self._step - 1, figures)
                    self._save()

    def _learn(self) -> tuple[float, float, float]:
        """Do one training step and return its losses.

        Chance depends on the seed and the step alone, so a resumed run is the same.
        """
        config = self._config
        chance = np.random.default_rng((config.seed, self._step))
        generator = torch.Generator().manual_seed(config.seed * 1_000_003 + self._step)
        torch.manual_seed(config.seed * 1_000_003 + self._step)  # of dropout
        for group in self._optimizer.param_groups:
            group["lr"] = config.learning_rate * _rate(self._step, config)
        batch = make_batch(
            self._samples, config, chance.choice(self._train, config.batch, p=self._shares), self._device, chance
        )
        with self._device.autocast():
            flow, place, rest = losses(self._policy, batch, config.frozen, self._space.deltas, generator)
        self._optimizer.zero_grad(set_to_none=True)
        (flow + config.place_weight * place + config.rest_weight * rest).backward()
        torch.nn.utils.clip_grad_norm_(self._policy.parameters(), config.clip)
        self._optimizer.step()
        stays = min(config.average, (self._step + 1) / (self._step + 10))
        with torch.no_grad():
            for mean, weight in zip(self._average.parameters(), self._policy.parameters(), strict=True):
                mean.lerp_(weight, 1 - stays)
        return float(flow.detach()), float(place.detach()), float(rest.detach())

    @torch.inference_mode()
    def _judge(self) -> dict[str, float]:
        """Return how far off the policy is on held-out episodes, m or rad.

        It is judged some actions on, and in the next place.
        """
        samples, space = self._samples, self._space
        chance = np.random.default_rng(self._config.seed)
        rows = chance.choice(self._held, min(_JUDGED, len(self._held)), replace=False)
        batch = make_batch(samples, self._config, rows, self._device)
        known = know(self._average, batch)
        generator = torch.Generator().manual_seed(self._config.seed)
        noise = torch.randn(batch.actions.shape, generator=generator).to(self._device.torch)
        chunks = samples.scale.actions(draw_chunks(self._average.flow, noise, known.condition).cpu().numpy())
        gap = (chunks - samples.plans[rows])[:, :_EXECUTED, : space.gaps]
        off = np.linalg.norm(gap.sum(axis=1) if space.deltas else gap[:, -1], axis=1)
        waits = samples.waits[rows]
        told_place, true_place = known.place.cpu().numpy(), samples.places[rows]
        near_gap = space.near_gap(true_place)
        place = np.linalg.norm(space.near_gap(told_place) - near_gap, axis=1)
        # of two places the right one: a median says nothing of those few frames in which it has to choose
        chosen = np.linalg.norm(space.gap(told_place) - space.gap(true_place), axis=1) < space.near
        near = np.abs(near_gap).max(axis=1) < 0.05
        right = float(((known.rest.cpu().numpy() > 0) == waits).mean())
        figures = {"moving_off": off[~waits], "waiting_off": off[waits], "place_off": place[near & ~waits]}
        told = {f"{name}_{space.unit}": float(np.median(values)) for name, values in figures.items() if len(values)}
        if not waits.all():
            told["right_place"] = float(chosen[~waits].mean())
        return {"right_rest": right} | told

    def _save(self) -> None:
        scale = self._samples.scale
        self._run.save(
            CHECKPOINT,
            {
                "policy": self._policy.state_dict(),
                "average": self._average.state_dict(),
                "optimizer": self._optimizer.state_dict(),
                "step": self._step,
                "sizes": vars(self._policy.sizes),
                "scale": {part: list(getattr(scale, part)) for part in SCALE},
            },
        )


def _rate(step: int, config: PolicyConfig) -> float:
    """Return the share of the learning rate: a warm-up, then half a cosine down to a fiftieth."""
    fall = 0.5 * (1 + math.cos(math.pi * min(step / config.steps, 1)))
    return min(1.0, (step + 1) / config.warm_up) * (0.98 * fall + 0.02)
