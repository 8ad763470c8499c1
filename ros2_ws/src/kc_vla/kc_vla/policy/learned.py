"""A learned policy: from keyframes, the current observation and the instruction to a chunk of actions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot
from kc_vla.core.tasks import meant_among
from kc_vla.core.views import Views
from kc_vla.inference.models import ModelError, models_in
from kc_vla.inference.onnx_sessions import InferenceError, open_session
from kc_vla.keyframes.image_crop import trunk_picture
from kc_vla.policy.backends import PolicyContext
from kc_vla.policy.history import History
from kc_vla.policy.interface import PolicyError, PolicyInput, RememberedFrame, UnfitPolicyError
from kc_vla.policy.model import PolicyModel, load_policy
from kc_vla.policy.numbers import space_of
from kc_vla.policy.options import LearnedOptions
from kc_vla.policy.remembered import KeyframeHistory

Array = NDArray[np.float32]
_RESTS = 0.5
"""From this probability on the tool stays where it is."""


class LearnedBackend:
    """Runs a model; each image is looked at once, and what a keyframe gave is kept (`KeyframeHistory`).

    So a chunk costs the same after 5 keyframes as after 50.
    """

    name = "learned"
    needs_images = True
    needs_plan = False

    def __init__(
        self, model: PolicyModel, robot: Robot, device: str = "auto", threads: int = 1, noise: float = 0.0
    ) -> None:
        """Open the model's files.

        Each chunk begins with new noise, and where there are several ways to go on, chunk after chunk another one is
        taken: the arm wavers between them. From the middle of the noise, 0, it keeps to one.

        Raises:
            PolicyError: one cannot be run here.
        """
        try:
            self._stem, self._chunk = (open_session(path, device, threads) for path in (model.stem, model.chunk))
            self._past = KeyframeHistory(model, self._look_back, device, threads)
        except InferenceError as error:
            raise PolicyError(str(error)) from error
        self._model, self._space = model, space_of(robot, model.action)
        self.action_type, self.names = self._space.action, self._space.names
        self.needs_keyframes = model.history.remembers
        self._instruction = 0
        self._seed, self._noise = 0, np.float32(noise)

    @property
    def slots(self) -> int:
        """Return the most keyframes that it attends to, or tokens that stand for all of them."""
        return self._model.slots

    @property
    def views(self) -> tuple[str, ...]:
        """Return the cameras that it looks at."""
        return self._model.views

    @property
    def history(self) -> History:
        """Return which past frames the policy was trained to get."""
        return self._model.history

    def reset(self, episode: Episode) -> str:
        """Forget the keyframes of the episode before; PolicyError for an instruction that the model does not know."""
        self._past.forget()
        self._seed = episode.seed
        self._instruction = self._known(episode.instruction)
        return ""

    def infer(self, given: PolicyInput) -> Array:
        """Return a chunk (horizon, A); PolicyError where a view is missing or the model gives no numbers."""
        model = self._model
        instruction = self._known(given.instruction)
        past = self._past.slots(given.keyframes, instruction)
        state = np.asarray(given.state[None], np.float32)
        runs, frozen = self._frozen(given.frozen, state)
        chance = np.random.default_rng((self._seed, given.frame))
        actions, _, rest = self._chunk.run(
            None,
            {
                "remembered": past.remembered,
                "present": past.present,
                "maps": self._look(given.views)[None],
                "state": self._space.state_numbers(state),
                "instruction": np.array([instruction], np.int64),
                "noise": self._noise * chance.standard_normal(frozen.shape, np.float32),
                "frozen": frozen,
                "runs": runs,
            },
        )
        chunk: Array = np.array(actions[0], np.float32)
        if not np.isfinite(chunk).all() or not np.isfinite(rest).all():
            raise UnfitPolicyError(
                f"the policy '{model.name}' gave no finite numbers: its weights are damaged, export it anew"
            )
        if rest[0] > _RESTS:
            chunk = self._space.rested(chunk, int(runs.sum()))
        chunk[:, self._space.moves :] = chunk[:, self._space.moves :].clip(0.0, 1.0)
        return np.asarray(self._space.actions(chunk[None], state)[0], np.float32)

    def _known(self, instruction: str) -> int:
        """Return which of the model's instructions this one means."""
        known = self._model.instructions
        if (meant := meant_among(instruction, known)) is not None:
            return known.index(meant)
        told = "; ".join(f"'{text}'" for text in known)
        raise UnfitPolicyError(
            f"the policy '{self._model.name}' does not know what to do for '{instruction}': it was trained on {told}"
        )

    def _look(self, views: Views) -> Array:
        """Return the maps (V, C, M, M) of the images of an observation."""
        model = self._model
        if missing := [view for view in model.views if view not in views]:
            raise UnfitPolicyError(
                f"the policy '{model.name}' looks at {', '.join(model.views)}: there is no {', '.join(missing)} here"
            )
        pictures = np.stack([trunk_picture(views[view], model.image_size) for view in model.views])
        maps: Array = self._stem.run(None, {"pictures": pictures})[0]
        return maps

    def _look_back(self, seen: RememberedFrame) -> tuple[Array, Array]:
        """Return the maps (V, C, M, M) of a keyframe, and the numbers (1, N) of its state."""
        return self._look(seen.views), self._space.state_numbers(np.asarray(seen.state[None], np.float32))

    def _frozen(self, actions: Array, state: Array) -> tuple[Array, Array]:
        """Return which actions of the chunk run already, (1, H), and these as they are learned, (1, H, A)."""
        horizon, size = self._model.horizon, len(self.names)
        runs, frozen = np.zeros((1, horizon), np.float32), np.zeros((1, horizon, size), np.float32)
        if actions.ndim == 2 and len(actions) and actions.shape[1] == size:
            count = min(len(actions), horizon)
            runs[0, :count], frozen[0, :count] = 1.0, self._space.learnt(actions[None, :count], state)[0]
        return runs, frozen


def find_policy(models_folder: str, name: str) -> PolicyModel:
    """Return the policy called `name` in a folder as the user named it, or of those that come with the stack.

    Raises:
        PolicyError: it is not there.
    """
    try:
        return load_policy(models_in(models_folder), name)
    except ModelError as error:
        raise PolicyError(str(error)) from error


def open_learned(context: PolicyContext, options: LearnedOptions) -> LearnedBackend:
    """Return the policy that the options name.

    Raises:
        PolicyError: it is not there, cannot be run here, or is for another robot or other cameras.
    """
    name, robot = options.model, context.robot
    model = find_policy(options.models_folder, name)
    if model.robot != robot.name:
        raise PolicyError(
            f"the policy '{name}' moves a '{model.robot}', this robot is a '{robot.name}': name another "
            "policy, or its robot"
        )
    if missing := [view for view in model.views if view not in robot.views]:
        raise PolicyError(
            f"the policy '{name}' looks at {', '.join(model.views)}: this robot has no {', '.join(missing)}, "
            f"only {', '.join(robot.views)}"
        )
    if model.history.strided and not options.strides:
        raise PolicyError(
            f"the policy '{name}' was trained on frames at a stride ({model.history}), for comparison: here there "
            "are keyframes; kc-vla eval policy plays it"
        )
    return LearnedBackend(model, robot, options.device, options.threads, options.noise)
