"""Puts the bodies of a kitchen into a scene: what is drawn, what is touched, and the joints of doors and drawers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sapien
from scipy.spatial.transform import Rotation

from kc_vla_sim.envs.looks import glow, matte, textured
from kc_vla_sim.kitchen.bodies import Part, Skin, Solid, turn_of
from kc_vla_sim.kitchen.furniture import Furniture, Moving

if TYPE_CHECKING:
    from mani_skill.envs.scene import ManiSkillScene
    from mani_skill.utils.structs import Actor, Articulation
    from sapien.wrapper.actor_builder import ActorBuilder

_DENSITY = 300.0
"""Density of things, drawers and doors, kg/m^3: a full mug has 0.1 kg."""
_JOINT_FRICTION = {"prismatic": 0.05, "revolute": 0.05}
"""Friction of drawers and doors, Coulomb's and viscous: they stay where they are left ..."""
JOINT_DAMPING = {"prismatic": 8.0, "revolute": 0.6}
"""... and do not run on, Ns/m and Nms/rad."""
_ALONG_BACKWARDS = (0.0, 0.0, 0.0, 1.0)
"""Turn (w first) of a joint's frame whose x axis is -x ..."""
_ALONG_UP = (np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0)
"""... z ..."""
_ALONG_DOWN = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
"""... or -z."""


def to_sapien(position: Sequence[float], turn: Rotation) -> sapien.Pose:
    """Return a pose in SAPIEN's form."""
    return sapien.Pose(p=list(position), q=np.roll(turn.as_quat(), 1))


def drawn(parts: Iterable[Part]) -> sapien.render.RenderBodyComponent:
    """Return what is drawn of a body; several of them can belong to one entity, each shown or hidden by itself."""
    component = sapien.render.RenderBodyComponent()
    for part in parts:
        mesh = part.mesh
        if part.skin is not None:
            material, uvs = _wearing(part.skin), part.skin.uvs
        else:
            material = glow(part.colour) if part.glows else matte(part.colour)
            uvs = np.zeros((len(mesh.vertices), 2), np.float32)
        component.attach(
            sapien.render.RenderShapeTriangleMesh(mesh.vertices, mesh.triangles, mesh.normals, uvs, material)
        )
    return component


@lru_cache(maxsize=128)
def _wearing(skin: Skin) -> sapien.render.RenderMaterial:
    """Return a surface with a texture; scenes after one another share it."""
    return textured(skin.image, srgb=True)


def show(component: sapien.render.RenderBodyComponent, shown: bool) -> None:
    """Show or hide what is drawn of a body."""
    component.visibility = 1.0 if shown else 0.0


def entity_of(body: Any) -> sapien.Entity:
    """Return the entity of the first of ManiSkill's actors or links."""
    one = body._objs[0]
    return one if isinstance(one, sapien.Entity) else one.entity


def add_solids(builder: ActorBuilder, solids: Iterable[Solid]) -> None:
    """Add what is touched of a body."""
    material = sapien.physx.PhysxMaterial(static_friction=0.8, dynamic_friction=0.7, restitution=0.0)
    for each in solids:
        pose = to_sapien(each.position, turn_of(each))
        if each.shape == "box":
            half = [side / 2 for side in each.size]
            builder.add_box_collision(pose, half_size=half, material=material, density=_DENSITY)
        elif each.shape == "sphere":
            builder.add_sphere_collision(pose, radius=each.size[0] / 2, material=material, density=_DENSITY)
        else:
            upright = to_sapien(each.position, turn_of(each) * Rotation.from_euler("y", np.pi / 2))
            builder.add_cylinder_collision(
                upright, radius=each.size[0] / 2, half_length=each.size[2] / 2, material=material, density=_DENSITY
            )


def build_fixed(
    scene: ManiSkillScene, name: str, parts: Sequence[Part], solids: Sequence[Solid], pose: sapien.Pose
) -> Actor:
    """Add a body that nothing moves."""
    builder = scene.create_actor_builder()
    add_solids(builder, solids)
    builder.initial_pose = pose
    actor = builder.build_static(name=name) if solids else builder.build_kinematic(name=name)
    entity_of(actor).add_component(drawn(parts))
    return actor


def build_free(scene: ManiSkillScene, name: str, solids: Sequence[Solid], pose: sapien.Pose) -> Actor:
    """Add a body that falls and is pushed; the caller gives it what is drawn."""
    builder = scene.create_actor_builder()
    add_solids(builder, solids)
    builder.initial_pose = pose
    return builder.build(name=name)


def build_articulated(scene: ManiSkillScene, furniture: Furniture, pose: sapien.Pose) -> Articulation:
    """Add furniture with drawers or doors: its first link is fixed, the others are `furniture.moving` in order."""
    builder = scene.create_articulation_builder()
    root = builder.create_link_builder()
    root.set_name(furniture.name)
    add_solids(root, furniture.solids)
    for each in furniture.moving:
        link = builder.create_link_builder(root)
        link.set_name(f"{each.name}_moving")
        link.set_joint_name(f"{each.name}_joint")
        add_solids(link, each.solids)
        joint, at = _joint_of(each)
        link.set_joint_properties(joint, [[0.0, each.travel]], at, at, damping=JOINT_DAMPING[joint])
    builder.initial_pose = pose
    made = builder.build(name=furniture.name, fix_root_link=True)
    for each, joint in zip(furniture.moving, made.active_joints, strict=True):
        joint.set_friction(_JOINT_FRICTION["revolute" if each.pivot else "prismatic"])
    for link, parts in zip(made.links, (furniture.parts, *(each.parts for each in furniture.moving)), strict=True):
        entity_of(link).add_component(drawn(parts))
    return made


def _joint_of(piece: Moving) -> tuple[str, sapien.Pose]:
    """Return the type of a joint, and its frame: it moves along, or turns about, the frame's x axis."""
    if piece.pivot is None:
        return "prismatic", sapien.Pose(q=_ALONG_BACKWARDS)
    return "revolute", sapien.Pose(p=piece.pivot_point, q=_ALONG_UP if piece.turn > 0 else _ALONG_DOWN)
