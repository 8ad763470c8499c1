"""The command of a control step as a message, and the chunk out of the policy's answer."""

from __future__ import annotations

from builtin_interfaces.msg import Time

from kc_vla.core.chunk import BadChunkError, Chunk
from kc_vla.execution.scheduler import Hold, ScheduledAction
from kc_vla.ros.convert import BadMessageError, chunk_from, floats_array
from kc_vla_msgs.msg import ActionChunk, ArmCommand


def command_message(
    episode_id: str, step: int, command: ScheduledAction | Hold, stamp: Time, base_frame: str
) -> ArmCommand:
    """Return a command as the arm and the recorder take it; `base_frame` is the robot's."""
    message = ArmCommand(episode_id=episode_id, step=step)
    message.header.stamp, message.header.frame_id = stamp, base_frame
    if isinstance(command, Hold):
        message.mode, message.reason = ArmCommand.HOLD, command.reason
    else:
        message.mode = int(command.action_type)
        message.names = list(command.names)
        message.values = floats_array(command.values)
        message.chunk_sequence, message.chunk_index = command.sequence, command.index
    return message


def chunk_of(message: ActionChunk, episode_id: str, sequence: int) -> Chunk:
    """Return the chunk of the answer to a request.

    Raises:
        BadChunkError: it belongs to another episode, or is malformed.
    """
    if message.episode_id != episode_id:
        raise BadChunkError(f"chunk {sequence} belongs to episode '{message.episode_id}': dropped")
    try:
        return chunk_from(message)
    except BadMessageError as error:
        raise BadChunkError(str(error)) from error
