"""A readable form of a launch description, for `ros2 launch --print`."""

from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity


class LaunchIntrospector:
    """Formats launch descriptions."""

    def format_launch_description(self, launch_description: LaunchDescription) -> str:
        """Return one line for each entity, indented by its depth."""
        return "\n".join(self._lines(launch_description, 0))

    def _lines(self, entity: LaunchDescriptionEntity, depth: int) -> list[str]:
        lines = ["    " * depth + entity.describe()]
        for sub_entity in entity.get_sub_entities():
            lines += self._lines(sub_entity, depth + 1)
        return lines
