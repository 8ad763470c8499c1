"""The names of the stack's topics and services (relative, so that a namespace or a remap moves them)."""

from kc_vla.core.views import can_be_view

JOINT_STATES = "joint_states"
LEADER_STATES = "leader_joint_states"  # not .../joint_states: by that ending a bag's readers find the arm
JOY = "joy"
TOOL_POSE = "tool_pose"
DETECTIONS = "detections"
DETECTIONS_TRUTH = "detections/truth"  # what a simulator knows of its objects

TF, TF_STATIC = "/tf", "/tf_static"
ROBOT_DESCRIPTION = "robot_description"
CAMERA_PLACES = "camera_places"  # of a simulator's cameras, for the node that tells all that stands on /tf_static

EPISODE_STATUS = "episode/status"
EPISODE_RESULT = "episode/result"
END_EPISODE = "episode/end"

ORACLE_SCORE = "oracle/score"
KEYFRAME_SCORE = "keyframes/score"
KEYFRAME_EVENT = "keyframes/event"
KEYFRAME_INDEX = "keyframes/index"
GET_KEYFRAMES = "keyframes/get"
RESET_KEYFRAMES = "keyframes/reset"
INJECT_KEYFRAME = "keyframes/inject"

POLICY_CHUNK = "policy/chunk"
PREDICT_CHUNK = "policy/predict_chunk"
SKILL_INSTRUCTION = "skills/instruction"  # of the skill that a policy does; empty: that of the episode counts
SKILL_POLICY = "skills/policy_chunk"  # PREDICT_CHUNK of the policy server where a skill server answers the arm
DRIVER = "policy/driver"

ARM_COMMAND = "arm/command"
E_STOP = "e_stop"
STOPPED = "arm/stopped"
STOP = "arm/e_stop"
RELEASE_E_STOP = "arm/release_e_stop"
RESUME = "arm/resume"
RESET = "arm/reset"
COMPLIANCE = "arm/compliance"

FOLLOW_TRAJECTORY = "arm_controller/follow_joint_trajectory"  # named as clients of ros2_control look for it
JOINT_TRAJECTORY = "arm_controller/joint_trajectory"
GRIPPER_COMMAND = "gripper_controller/gripper_cmd"

RESET_SIMULATION = "simulator/reset"
EXPERT_CHUNK = "simulator/expert_chunk"

RECORDER_STATUS = "recorder/status"
RUN_TASK = "run_task"
PLAYER_PAUSE = "bag_player/pause"
PLAYER_RESUME = "bag_player/resume"
PLAYER_STEP = "bag_player/step"

SHORT_TERM_UNITS = "short_term_memory/units"
SHORT_TERM_CHANGES = "short_term_memory/changes"
OBSERVE_UNITS = "short_term_memory/observe"
RECALL_UNITS = "short_term_memory/recall"
TELL_RECALL = "short_term_memory/feedback"
MEMORY_STATISTICS = "short_term_memory/stats"
ATTEND_UNITS = "short_term_memory/attend"
FORGET_UNITS = "short_term_memory/forget"
UNITS_SINCE = "short_term_memory/since"

SCENE_MARKERS = "long_term_memory/markers"
QUERY_SCENE = "long_term_memory/query"
GET_NEIGHBOURS = "long_term_memory/neighbours"
FIND_WAY = "long_term_memory/path"
DESCRIBE_SCENE = "long_term_memory/describe"
UPSERT_OBJECT = "long_term_memory/upsert"
EDIT_SCENE = "long_term_memory/edit"
FORGET_OBJECT = "long_term_memory/forget"
SAVE_MAP = "long_term_memory/save"
LOAD_MAP = "long_term_memory/load"
SET_AREAS = "long_term_memory/set_areas"
CONNECT_AREAS = "long_term_memory/connect"
ENTER_MAP = "long_term_memory/enter"
OBSERVE_SCENE = "long_term_memory/observe"
SCENE_SINCE = "long_term_memory/since"

DO_SKILL = "do_skill"
LOOK_AROUND = "look_around"
LINKED_KEYFRAMES = "long_term_memory/keyframes"
ASK = "ask"
EXECUTE_INSTRUCTION = "execute_instruction"
PLANNER_STEPS = "planner/steps"
PLANNER_BELIEF = "planner/belief"
HOUSEHOLD = "household/state"

DIAGNOSTICS = "/diagnostics"

EMULATOR_VIEW = "emulator/view"

OWN_IMAGE, OWN_INFO, OWN_DEPTH = "image_raw", "camera_info", "depth/image"
"""Topics of a camera, in the namespace of its view."""


def image_topic(view: str) -> str:
    """Return where the images of a view are."""
    return f"{view}/{OWN_IMAGE}"


def picture_topics(view: str) -> tuple[str, str]:
    """Return where they may be in a bag: raw ones, which count where both are there, and compressed ones."""
    return image_topic(view), f"{image_topic(view)}/compressed"


def view_on(topic: str) -> str:
    """Return the view whose images are on a topic of that name, in any namespace; empty where it is no such topic."""
    *_, view, kind = ("", "", *topic.removesuffix("/compressed").split("/"))
    return view if kind == "image_raw" and can_be_view(view) else ""


def camera_info_topic(view: str) -> str:
    """Return where the calibration of a view is."""
    return f"{view}/{OWN_INFO}"


def boxes_topic(view: str) -> str:
    """Return where the boxes of what is detected in the images of a view are."""
    return f"{view}/detections"


def depth_topic(view: str) -> str:
    """Return where the depth of a view is, if its camera measures it; no view is called so, see `view_on`."""
    return f"{view}/{OWN_DEPTH}"
