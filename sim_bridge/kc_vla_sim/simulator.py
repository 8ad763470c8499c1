"""ManiSkill as a plain object: reset, step, look. It does `protocol.Simulation`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from kc_vla.core.tasks import Task, find_task
from kc_vla.core.views import Views
from kc_vla_sim import envs as envs  # registers the tasks
from kc_vla_sim.actions import TOOL_DELTA_SIZE, normalise_joint_positions, normalise_tool_delta
from kc_vla_sim.choices import STANDARD, STANDARD_ASSETS, STANDARD_LOOKS, check_looks, check_variant, image_size_of
from kc_vla_sim.drawing import UNDRAWN, DrawnFrame, draw_frame
from kc_vla_sim.envs.tabletop import THIRD_PERSON_CAMERA, TabletopEnv
from kc_vla_sim.errors import BadTaskError, EpisodeOverError, UnplayedTaskError
from kc_vla_sim.experts import make_expert
from kc_vla_sim.frame import CameraModel, GroundTruthKeyframe, Image, SimulatedFrame
from kc_vla_sim.geometry import VIEWS as VIEWS
from kc_vla_sim.geometry import camera_model, to_pose
from kc_vla_sim.kitchen.asset_sets import find_assets
from kc_vla_sim.kitchen.layout import DrawLayout
from kc_vla_sim.making import make_environment
from kc_vla_sim.protocol import Expert, check_seed
from kc_vla_sim.renderer import choose_renderer
from kc_vla_sim.robots.panda import WRIST_CAMERA


class Simulator:
    """One robot, one task at a time, 20 control steps a second of simulated time.

    The same task and seed give the same episode, image for image, on one machine.
    """

    def __init__(
        self,
        image_size: int | tuple[int, int] = 256,
        renderer: str = "auto",
        draw: bool = True,
        shadows: bool = False,
        variant: str = STANDARD,
        looks: str = STANDARD_LOOKS,
        whims: bool = True,
        depth: bool = False,
        assets: str = STANDARD_ASSETS,
        tour: bool = True,
        layout: DrawLayout | None = None,
    ) -> None:
        """Check what drawing needs; the environment itself is made at the first reset.

        Args:
            image_size: pixels, of a square or (width, height), of both cameras.
            renderer: "auto" (a GPU when there is one), "gpu" or "cpu".
            draw: False leaves the images of the frames empty and a step several times faster; see `look`.
            shadows: draw them, which doubles the time of a step without a GPU.
            variant: of every task, a name in `kc_vla_sim.choices.VARIANTS`.
            looks: of every task, a name in `kc_vla_sim.choices.LOOKS`; they change images and cameras, nothing else.
            whims: False leaves the expert nothing to draw for itself: another episode of the same seed.
            depth: let frames have depth images.
            assets: of the kitchen, a name in `kc_vla_sim.choices.ASSETS`.
            tour: False leaves a kitchen to the robot: nothing happens by itself, and an episode takes 30 minutes.
            layout: draws the kitchen of a seed; None: as ever.

        Raises:
            BadVariantError: there is no such variant.
            BadLooksError: there are no such looks.
            BadAssetsError, AssetsError: there are no such assets, or they are not installed.
            BadImageSizeError: a size that is not made of whole numbers in 1..4096.
            RendererError: no usable Vulkan driver, no such renderer.
        """
        self._width, self._height = image_size_of(image_size)
        self._renderer = choose_renderer(renderer)
        self.draws = draw
        """Whether the frames from now on have images; see `redrawn`."""
        self.detects = True
        """Whether the frames from now on have detections, which take half of a step in a kitchen; see `redrawn`."""
        self._shadows = shadows
        self._variant = check_variant(variant)
        self._looks = check_looks(looks)
        self._whims = whims
        self._depth = depth
        self._assets = find_assets(assets).name
        self._tour = tour
        self._own: dict[str, Any] = {} if layout is None else {"layout": layout}
        self._task: Task | None = None
        self._env: Any = None  # gymnasium's wrappers around a TabletopEnv; None until the first reset
        self._expert: Expert | None = None
        self._index = 0
        self._running = False
        self._gripper = 0.0
        self._keyframes: tuple[GroundTruthKeyframe, ...] = ()

    @torch.no_grad()  # nothing here has a gradient, and to be ready for one takes a sixth of a step
    def reset(self, task: str, seed: int) -> SimulatedFrame:
        """Begin a new episode of `task` and return its frame 0.

        Raises:
            UnknownTaskError: `task` is not in the task table.
            UnplayedTaskError: it has no environment there.
            BadTaskError: its environment or its expert cannot be had.
            BadSeedError: `seed` is not a whole number in 0..2**32-1.
        """
        found = find_task(task)
        seed = check_seed(seed)
        if not found.environment:
            raise UnplayedTaskError(f"task '{task}' has no environment in the task table: only its data can be used")
        if found is not self._task:
            self._make_environment(found)
        self._world.agent.set_control_mode()
        _, info = self._env.reset(seed=seed)
        self._expert = make_expert(found, self._world)
        self._index = 0
        self._gripper = 0.0
        self._keyframes = ()
        self._running = True
        return self._frame(info, truncated=False)

    def step(self, tool_delta: ArrayLike) -> SimulatedFrame:
        """Move the tool for one control step (50 ms).

        Args:
            tool_delta: (7,): dx, dy, dz (m) and rotation vector (rad) in the robot's base frame, gripper 0..1.

        Raises:
            BadActionError: not seven finite numbers; nothing moves.
            EpisodeOverError: no episode is running.
        """
        action = normalise_tool_delta(tool_delta)
        frame = self._advance("pd_ee_delta_pose", action)
        self._gripper = float(np.clip(np.asarray(tool_delta, dtype=float)[6], 0, 1))
        return frame

    def step_joints(self, positions: ArrayLike) -> SimulatedFrame:
        """Drive the joints towards `positions` for one control step (50 ms).

        Args:
            positions: (9,), in the order of `SimulatedFrame.joint_names`, rad and m; the fingers move to their mean.

        Raises:
            BadActionError: not nine finite numbers; nothing moves.
            EpisodeOverError: no episode is running.
        """
        action = normalise_joint_positions(positions)
        frame = self._advance("pd_joint_pos", action)
        self._gripper = float((action[7] + 1) / 2)
        return frame

    def hold(self) -> SimulatedFrame:
        """Stay in place for one control step, with the gripper as last commanded.

        Raises:
            EpisodeOverError: no episode is running.
        """
        still = np.zeros(TOOL_DELTA_SIZE)
        still[6] = self._gripper
        return self._advance("pd_ee_delta_pose", normalise_tool_delta(still))

    def look(self) -> tuple[Image, Image]:
        """Draw the present frame, also in a simulator that does not draw: an image of each of `VIEWS`.

        Raises:
            EpisodeOverError: before the first reset.
        """
        if self._env is None:
            raise EpisodeOverError("no episode yet: reset the simulator first")
        pictures = self._world.pictures()
        return pictures[THIRD_PERSON_CAMERA], pictures[WRIST_CAMERA]

    def redrawn(self, frame: SimulatedFrame) -> SimulatedFrame:
        """Return the present `frame` with images and detections, also one that has none."""
        drawn, found = self._drawn(), frame.detections or self._world.detections()
        return replace(frame, views=drawn.views, depth=drawn.depth, visible=drawn.visible, detections=found)

    def picture(self, view: str) -> Image:
        """Draw one of `VIEWS` alone; otherwise as `look`."""
        if self._env is None:
            raise EpisodeOverError("no episode yet: reset the simulator first")
        return self._world.pictures((view,))[view]

    def views(self) -> Views:
        """Return what `look` draws, by name."""
        return dict(zip(VIEWS, self.look(), strict=True))

    @property
    def task(self) -> Task | None:
        """Return the task of the present episode; None before the first reset."""
        return self._task

    @property
    def expert(self) -> Expert:
        """Return the expert of the present episode; it sees the simulator's state as it is when asked.

        Raises:
            EpisodeOverError: before the first reset.
        """
        if self._expert is None:
            raise EpisodeOverError("no episode yet: reset the simulator first")
        return self._expert

    @property
    def keyframes(self) -> tuple[GroundTruthKeyframe, ...]:
        """Return the ground-truth keyframes of the present episode so far, in order."""
        return self._keyframes

    @property
    def decisions(self) -> tuple[tuple[int, str], ...]:
        """Return the moments of decision of the present episode so far, in order: the frame and the right choice."""
        if self._env is None or self._task is None:
            return ()
        choices = self._task.choices
        return tuple((frame, self._name(choices, n, "choices")) for frame, n in self._world.decisions_until_now())

    @property
    def cameras(self) -> tuple[CameraModel, CameraModel]:
        """Return those of `VIEWS`.

        Raises:
            EpisodeOverError: before the first reset.
        """
        if self._env is None:
            raise EpisodeOverError("no episode yet: reset the simulator first")
        return (camera_model(self._world, THIRD_PERSON_CAMERA), camera_model(self._world, WRIST_CAMERA))

    def close(self) -> None:
        """Release the environment; a later reset makes a new one."""
        if self._env is not None:
            self._env.close()
        self._env = self._task = self._expert = None
        self._running = False

    @property
    def environment(self) -> TabletopEnv:
        """Return the environment of the present episode, for what a task has beyond its frames.

        Raises:
            EpisodeOverError: before the first reset.
        """
        if self._env is None:
            raise EpisodeOverError("no episode yet: reset the simulator first")
        return self._world

    @property
    def _world(self) -> TabletopEnv:
        """Return the task's environment below gymnasium's wrappers."""
        world: TabletopEnv = self._env.unwrapped
        return world

    def _make_environment(self, task: Task) -> None:
        """Replace the environment by that of `task`."""
        self.close()
        self._env = make_environment(
            task,
            self._variant,
            self._looks,
            self._whims,
            self._assets,
            self._tour,
            obs_mode="none",  # pictures and state are read here, once, in the form that is needed
            reward_mode="none",
            sim_backend="physx_cpu",
            render_backend=self._renderer,
            enable_shadow=self._shadows,
            sensor_configs={"width": self._width, "height": self._height},
            **self._own,
        )
        self._task = task

    def _name(self, names: tuple[str, ...], number: int, what: str) -> str:
        """Return what the task table calls a keyframe or a choice of the environment."""
        assert self._task is not None
        if not 0 <= number < len(names):
            told = f"the environment of task '{self._task.name}' reports number {number} of its {what}"
            raise BadTaskError(f"{told}, counted from 0, but the task table has {len(names)}: correct one of the two")
        return names[number]

    @torch.no_grad()
    def _advance(self, mode: str, action: NDArray[np.float32]) -> SimulatedFrame:
        """Take one control step with the controller called `mode`."""
        if not self._running:
            raise EpisodeOverError("the episode is over: reset the simulator before the next step")
        command = {"control_mode": mode, "action": torch.as_tensor(action)[None]}
        _, _, _, truncated, info = self._env.step(command)
        self._index += 1
        return self._frame(info, truncated=bool(truncated))

    def _frame(self, info: dict[str, torch.Tensor], truncated: bool) -> SimulatedFrame:
        """Read the present state."""
        world = self._world
        if "success" not in info:
            assert self._task is not None
            raise BadTaskError(f"the environment of task '{self._task.name}' does not say 'success' in evaluate()")
        success, fail = bool(info["success"]), bool(info.get("fail", False))
        reason = ""
        if success:
            reason = "success"
        elif fail:
            reason = world.failure_reason
        elif truncated:
            reason = "time limit"
        self._running = not reason
        drawn = self._drawn() if self.draws else UNDRAWN
        assert self._task is not None  # there is no frame before the first reset
        labels = self._task.keyframes
        known = world.keyframes_until_now()
        self._keyframes = tuple(
            GroundTruthKeyframe(frame, self._name(labels, phase, "keyframes")) for phase, frame in known
        )
        now = next((phase for phase, frame in known if frame == self._index), None)
        robot = world.agent.robot
        return SimulatedFrame(
            index=self._index,
            views=drawn.views,
            joint_names=tuple(joint.name for joint in robot.get_active_joints()),
            joint_positions=robot.get_qpos()[0].numpy().astype(np.float64),
            joint_velocities=robot.get_qvel()[0].numpy().astype(np.float64),
            tool_pose=to_pose(world.agent.tcp.pose),
            detections=world.detections() if self.detects else (),
            keyframe=None if now is None else labels[now],
            done=bool(reason),
            success=success,
            reason=reason,
            completed_stages=int(info.get("completed_stages", 0)),
            keyframe_index=now or 0,
            depth=drawn.depth,
            visible=drawn.visible,
        )

    def _drawn(self) -> DrawnFrame:
        assert self._task is not None
        return draw_frame(self._world, self._task.name, self._depth)
