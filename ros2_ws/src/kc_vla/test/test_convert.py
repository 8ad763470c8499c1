import math

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from observations import PERIOD_NS, observation, same
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Image, JointState

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType, BadChunkError, ChunkLimits, check_chunk
from kc_vla.core.episode import Episode
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.keyframes.observation import Keyframe, observation_of, pose_of
from kc_vla.ros import convert
from kc_vla.ros.convert import FUTURE_NS, BadMessageError, check_stamp
from kc_vla_msgs.msg import ActionChunk, EpisodeStatus
from kc_vla_msgs.msg import Keyframe as KeyframeMessage

PIXELS = hnp.arrays(np.uint8, st.tuples(st.integers(1, 6), st.integers(1, 6), st.just(3)))
NUMBERS = st.floats(-1e6, 1e6, width=32)


def over_the_wire(message: object) -> object:
    return deserialize_message(serialize_message(message), type(message))


def image(height: int = 2, width: int = 3, step: int = 9, encoding: str = "rgb8", size: int = 18) -> Image:
    return Image(height=height, width=width, step=step, encoding=encoding, data=bytes(size))


@given(st.integers(0, 2**31 * 10**9 - 1))
def test_stamps_survive(stamp_ns: int) -> None:
    assert convert.nanoseconds(over_the_wire(convert.time_message(stamp_ns))) == stamp_ns


@given(PIXELS)
def test_pixels_survive(pixels: np.ndarray) -> None:
    message = over_the_wire(convert.image_message(pixels, Time(sec=3), "camera"))
    assert (convert.image_pixels(message) == pixels).all()
    assert (message.header.stamp.sec, message.header.frame_id, message.encoding) == (3, "camera", "rgb8")


@given(PIXELS, st.integers(1, 5))
def test_pixels_of_a_strided_view_survive(pixels: np.ndarray, padding: int) -> None:
    wide = np.concatenate([pixels, np.zeros((len(pixels), padding, 3), np.uint8)], axis=1)
    view = wide[::-1, : pixels.shape[1], ::-1]
    assert (convert.image_pixels(convert.image_message(view, Time(), "")) == view).all()


@given(PIXELS, st.integers(0, 7))
def test_bgr_and_padded_rows_are_understood(pixels: np.ndarray, padding: int) -> None:
    height, width, _ = pixels.shape
    rows = np.full((height, width * 3 + padding), 99, np.uint8)
    rows[:, : width * 3] = pixels[:, :, ::-1].reshape(height, -1)
    message = Image(height=height, width=width, step=rows.shape[1], encoding="bgr8", data=rows.tobytes())
    assert (convert.image_pixels(message) == pixels).all()


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (image(encoding="mono16"), "an image is in 'mono16', which cannot be shown: rgb8, bgr8, "),
        (image(encoding=""), "an image is in '', which cannot be shown"),
        (image(size=17), "an image says 3x2 px in 'rgb8' with 9 bytes a row and carries 17 bytes"),
        (image(size=0), "carries 0 bytes"),
        (image(step=8, size=16), "an image says 3x2 px in 'rgb8' with 8 bytes a row"),
        (image(height=0, size=0), "an image says 3x0"),
        (image(width=0, step=0, size=0), "an image says 0x2"),
        (image(height=2**32 - 1, width=2**32 - 1, step=2**32 - 1), "says 4294967295x4294967295 px: between"),
    ],
)
def test_a_malformed_image_is_told(message: Image, told: str) -> None:
    with pytest.raises(BadMessageError, match=told):
        convert.image_pixels(message)


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 20), st.integers(0, 100))
def test_an_image_is_either_read_or_refused(height: int, width: int, step: int, size: int) -> None:
    message = image(height, width, step, size=size)
    try:
        assert convert.image_pixels(message).shape == (height, width, 3)
    except BadMessageError:
        assert height * width == 0 or size != height * step or step < 3 * width


@given(hnp.arrays(np.float64, 7, elements=st.floats(-10, 10)))
def test_poses_survive(pose: np.ndarray) -> None:
    assert (pose_of(over_the_wire(convert.pose_message(pose))) == pose).all()


@pytest.mark.parametrize("images", [True, False])
def test_a_keyframe_survives_with_or_without_its_pictures(images: bool) -> None:
    keyframe = Keyframe("flash 1 on", 1, 0.75, "oracle", True, observation(12))
    message: KeyframeMessage = over_the_wire(convert.keyframe_message(keyframe, "episode", "robot_base", images))
    assert (message.label, message.phase, message.score, message.source) == ("flash 1 on", 1, 0.75, "oracle")
    assert message.committed
    seen = message.observation
    assert (seen.episode_id, seen.frame_index, seen.header.frame_id) == ("episode", 12, "robot_base")
    views = {view.name: view.image for view in seen.views}
    assert list(views) == (list(DEFAULT_VIEWS) if images else [])
    if images:
        stamp_ns = convert.nanoseconds(seen.header.stamp)
        pictures = {view: convert.image_pixels(image) for view, image in views.items()}
        back = observation_of(12, stamp_ns, pictures, seen.joints, seen.tool_pose)
        assert same(back, observation(12))


@pytest.mark.parametrize(
    ("joints", "told"),
    [
        (JointState(name=["a", "b"], position=[0.1]), "name 2 joints and give 1 positions"),
        (JointState(name=["a"], position=[0.1], velocity=[0.0, 0.0]), "name 1 joints and give 2 velocities"),
    ],
)
def test_joint_states_that_contradict_themselves_are_told(joints: JointState, told: str) -> None:
    with pytest.raises(BadMessageError, match=told):
        convert.check_sample(joints)


def test_a_sample_is_checked_by_itself() -> None:
    with pytest.raises(BadMessageError, match="mono16"):
        convert.check_sample(image(encoding="mono16"))
    for sound in (
        image(),
        JointState(name=["a"], position=[0.1]),
        JointState(name=["a"], position=[0.1], velocity=[0.2]),
    ):
        convert.check_sample(sound)


def test_joints_without_velocities_are_taken_to_stand_still() -> None:
    joints = JointState(name=["a", "b"], position=[0.1, 0.2])
    pictures = {"front": np.zeros((2, 3, 3), np.uint8)}
    seen = observation_of(0, 0, pictures, joints, convert.pose_message(np.zeros(7)))
    assert seen.joint_velocities.tolist() == [0.0, 0.0]


def chunk_message(actions: np.ndarray, **values: object) -> ActionChunk:
    message = ActionChunk(
        **{
            "sequence": 4,
            "observation_frame": 10,
            "action_type": ActionChunk.TOOL_DELTA,
            "names": list(TOOL_DELTA_NAMES),
            "horizon": actions.shape[0],
            "dimension": actions.shape[1],
            **values,
        }
    )
    message.actions = convert.floats_array(actions)
    return message


@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 20), st.just(7)), elements=NUMBERS))
def test_a_chunk_survives(actions: np.ndarray) -> None:
    chunk = convert.chunk_from(over_the_wire(chunk_message(actions)))
    assert (chunk.sequence, chunk.start, chunk.names) == (4, 10, TOOL_DELTA_NAMES)
    assert chunk.action_type is ActionType.TOOL_DELTA
    assert (chunk.actions == actions).all()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"horizon": 3}, "chunk 4 says 3 actions of 7 numbers and carries 14"),
        ({"dimension": 0}, "chunk 4 says 2 actions of 0 numbers"),
        ({"horizon": 2**31, "dimension": 2**31}, "numbers and carries 14"),
        ({"action_type": 7}, "chunk 4 has the unknown action type 7"),
        ({"action_type": 2}, "unknown action type 2"),
    ],
)
def test_a_chunk_that_contradicts_itself_is_told(values: dict[str, object], told: str) -> None:
    with pytest.raises(BadMessageError, match=told):
        convert.chunk_from(chunk_message(np.zeros((2, 7)), **values))


def test_a_chunk_without_actions_is_told() -> None:
    with pytest.raises(BadMessageError, match="chunk 4 carries no actions"):
        convert.chunk_from(chunk_message(np.zeros((0, 7))))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_that_are_not_finite_are_left_to_the_check_of_the_chunk(value: float) -> None:
    chunk = convert.chunk_from(over_the_wire(chunk_message(np.full((2, 7), value))))
    with pytest.raises(BadChunkError, match="not finite"):
        check_chunk(chunk, ChunkLimits())


def test_an_episode_status_is_understood() -> None:
    status = EpisodeStatus(
        episode_id="counting-1",
        task="counting",
        instruction="push",
        seed=7,
        start_time=Time(sec=2, nanosec=5),
        frame_period=0.05,
        state=EpisodeStatus.RUNNING,
    )
    assert convert.episode_from(over_the_wire(status)) == Episode(
        "counting-1", "counting", "push", 2_000_000_005, PERIOD_NS, running=True, seed=7
    )
    status.state = EpisodeStatus.FINISHED
    assert not convert.episode_from(status).running


@pytest.mark.parametrize("period", [0.0, -0.05, 1e-10, math.nan, math.inf, -math.inf])
def test_an_episode_without_a_frame_period_is_none(period: float) -> None:
    assert convert.episode_from(EpisodeStatus(episode_id="counting-1", frame_period=period)) is None


def test_a_stamp_from_the_future_is_refused_and_one_of_the_past_is_not() -> None:
    check_stamp(1_000_000_000, 5_000_000_000)
    check_stamp(5_000_000_000 + FUTURE_NS, 5_000_000_000)
    with pytest.raises(BadMessageError, match="11 s ahead of this node's clock"):
        check_stamp(16_000_000_000, 5_000_000_000)
    with pytest.raises(BadMessageError, match="no clock shows a time below 0"):
        check_stamp(-5_000_000_000, 5_000_000_000)
