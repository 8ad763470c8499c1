"""Each launch file with each value that it cannot use: it is refused before any process action is reached.

ROS 2's own launch leaves running what it has started before an error in a launch description; the stand-in does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from episode_bag import write_episode
from launch import LaunchContext, LaunchDescriptionEntity
from launch.actions import ExecuteProcess
from launch.launch_description_sources import get_launch_description_from_python_launch_file

from kc_vla.launching import kinds
from kc_vla.launching.arguments import Argument
from kc_vla.ros.parameters import NodeParameters

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "launch").glob("*.launch.py"))
NAMES = [file.name.removesuffix(".launch.py") for file in FILES]
NOWHERE = "/dev/null/nothing"
FREE = {
    "household": {"instruction", "llm", "map_id", "scene", "sequence", "token"},
    "maniskill": {"instruction", "model", "policy_model", "token"},
    "piper": {"instruction", "model", "policy_model", "token"},
    "replay": {"model", "policy_model", "token"},
    "robot": {"instruction", "model", "policy_model", "token"},
    "annotate": set(),
}
"""Arguments that any text may be given; those of them that have to fit others are among `TOGETHER`."""
TOGETHER: dict[str, tuple[dict[str, str], ...]] = {
    "household": (
        {"scene": "home31"},
        {"scene": "kitchen"},
        {"scene": "999"},
        {"sequence": "no-such-sequence"},
        {"sequence": "composite-test-001", "instruction": "wash an apple"},
        {"server": "http://localhost:1"},
        {"cache": "answers"},
        {"planner": "model"},
        {"planner": "grammar", "llm": "one", "server": "http://localhost:1"},
    ),
    "maniskill": (
        {"policy_model": "no_such_model"},
        {"policy": "replay"},
        {"policy": "lerobot"},
        {"policy": "openpi", "server": "tcp://localhost:5555"},
        {"policy": "groot", "server": "ws://localhost:8000"},
        {"policy": "joy", "takeover": "joy"},
        {"policy": "openpi", "mapping": "piper-groot"},
        {"selector": "learned", "model": "no_such_model"},
        {"selector": "learned", "models": "<folder>"},
        {"policy": "expert", "policy_options": "{rate: 5.0}"},
        {"selector": "rules", "selector_options": "{every: 5}"},
        {"detector": "vision_msgs", "detector_options": "{boxs: [/yolo]}"},
        {"detector": "none", "detector_options": "{boxes: [/yolo]}"},
    ),
    "piper": (
        {"task": "no_such_task"},
        {"arm": "piper", "can": "no_such_can", "policy": "joy"},
        {"arm": "ros"},
        {"arm": "emulated", "policy": "leader", "leader": "no_such_can"},
        {"arm": "emulated", "policy": "scripted", "script": "<file>"},
        {"arm": "emulated", "cameras": "<file>"},
        {"arm": "emulated", "cameras": NOWHERE},
        {"arm": "emulated", "policy": "learned", "policy_models": "<folder>"},
        {"arm": "emulated", "policy": "replay"},
        {"arm": "emulated", "driver": "{channel: can1}"},
        {"arm": "simulated", "driver": "{channel: can1}"},
        {"arm": "simulated", "task": "kitchen"},
        {"arm": "emulated", "detector": "vlm"},
        {"arm": "ros", "robot": "ur5e_ros", "driver": "{channel: can1}", "policy": "joy"},
    ),
    "replay": ({"bag": "<folder>"}, {"policy": "replay", "selector": "oracle", "bag": "<file>"}),
    "robot": (
        {"robot": "panda_sim", "arm": "auto"},
        {"robot": "ur5e_ros", "arm": "auto"},
        {"robot": "ur5e_ros", "rig": "piper"},
        {"arm": "ros"},
    ),
    "annotate": (),
}
"""What is wrong together only, or only by what a file holds."""
GOOD: dict[str, dict[str, str]] = {
    "piper": {"arm": "emulated", "can": "no_such_can"},
    "robot": {"robot": "piper", "arm": "emulated", "can": "no_such_can"},
    "replay": {"bag": "<bag>", "output": "<output>", "selector": "rules"},
    "annotate": {"bag": "<bag>"},
}
"""What a launch file needs, so that one value alone is wrong."""
WRONG_NAMES = {
    "rig": "no_such_robot",
    "source": "no_such_selector",
    "looks": "no_such_randomization",
    "robot": "no_such_robot",
    "task": "no_such_task",
    "mapping": "no_such_mapping",
    "models": NOWHERE,
    "policy_models": NOWHERE,
    "fault": "los 0.2",
    "driver": "can1",
    "params": NOWHERE,
    "policy_options": "rate",
    "selector_options": "7",
    "detector_options": "boxes",
    "simulator_options": "{length: 5",
}
SPELLINGS = ("true", "True", "TRUE", "1", " true ", "false", "False", "FALSE", "0")


class ReachedError(Exception):
    """A process would have been started."""


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """Files that a test names, by what stands for them."""
    (tmp_path / "file.yaml").write_text("- 1\n")
    (tmp_path / "folder").mkdir()
    return {
        "<bag>": str(tmp_path / "bag"),
        "<output>": str(tmp_path / "runs"),
        "<file>": str(tmp_path / "file.yaml"),
        "<folder>": str(tmp_path / "folder"),
    }


@pytest.fixture
def visit(places: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., LaunchContext]:
    """Visit a launch description as a launch does, up to its first process."""

    def reached(self: ExecuteProcess, context: LaunchContext) -> None:
        raise ReachedError(type(self).__name__)

    def visit(file: Path, **arguments: str) -> LaunchContext:
        given = {name: places.get(value, value) for name, value in arguments.items()}
        if "<bag>" in arguments.values() and not Path(places["<bag>"]).exists():
            write_episode(Path(places["<bag>"]))
        context = LaunchContext()
        context.launch_configurations.update(given)
        _visit(get_launch_description_from_python_launch_file(str(file)).entities, context)
        return context

    monkeypatch.setattr(ExecuteProcess, "execute", reached)
    monkeypatch.chdir(places["<folder>"])
    return visit


def _visit(entities: Iterable[LaunchDescriptionEntity], context: LaunchContext) -> None:
    for entity in entities:
        _visit(entity.visit(context) or (), context)


def _arguments(file: Path) -> dict[str, Argument]:
    found = get_launch_description_from_python_launch_file(str(file)).get_launch_arguments()
    assert all(isinstance(argument, Argument) for argument in found)
    return {argument.name: argument for argument in found}


def _bad_values(argument: Argument) -> Iterator[str]:
    """Values that an argument cannot have, made from its kind."""
    match argument.kind:
        case kinds.OneOf() | kinds.Switch():
            choices = argument.choices or []
            wrong = ("", "yes", "none of these", f"{choices[0]}x", choices[-1].capitalize() + "!")
            yield from (value for value in dict.fromkeys(wrong) if value not in choices)
        case kinds.Number() as kind:
            yield from ("", "x", "nan", ".nan", ".inf", "-.inf", "[1]", "true", "1 2", "9" * 50, "0x", "1e3x")
            yield from ("1.5", "3.0") if kind.whole else ()
            yield from (f"{kind.low - 1:.0f}",) if kind.low is not None else ()
            yield from (f"{kind.high + 1:.0f}",) if kind.high is not None else ()
        case kinds.ExistingPath() as kind:
            yield NOWHERE
            yield from ("",) if kind.needed else ()
            yield from {"file": ("<folder>",), "folder": ("<file>",)}.get(kind.what, ())
        case kinds.NewPath() as kind:
            yield f"{NOWHERE}/deeper"
            yield from ("",) if kind.needed else ()
            yield "<file>" if kind.what == "folder" else "<folder>"
        case kinds.HostAddress():
            yield from ("", "0.0.0.0", "::", "0", "256.1.1.1", "a b", "http://localhost", "localhost:80", "1.2.3")
        case kinds.ServerUrl():
            yield from ("x", "localhost:8000", "ftp://host", "://", f"{argument.kind.schemes[0]}://host:99999")
            yield f"{argument.kind.schemes[0]}://"
        case kinds.CanInterfaceName():
            yield from ("", "a b", "c" * 16, "can0:")
        case kinds.NotEmpty():
            yield from ("", "  ")
        case kinds.Checked():
            yield WRONG_NAMES[argument.name]


CASES = [
    pytest.param(file, name, value, id=f"{file.name} {name}:={value[:20]}")
    for file in FILES
    for name, argument in _arguments(file).items()
    for value in _bad_values(argument)
]


@pytest.mark.parametrize(("file", "name", "value"), CASES)
def test_a_bad_value_is_refused_before_a_process_is_reached(
    visit: Callable[..., LaunchContext], file: Path, name: str, value: str
) -> None:
    good = GOOD.get(file.name.removesuffix(".launch.py"), {})
    with pytest.raises(Exception) as refused:  # noqa: PT011  (each kind has its own error; which it is not is told below)
        visit(file, **{**good, name: value})
    assert not isinstance(refused.value, ReachedError), "a process was started"
    text = str(refused.value)
    assert name in text or "parameter file" in text
    assert "\n" not in text


@pytest.mark.parametrize(("file", "name"), [*zip(FILES, NAMES, strict=True)], ids=NAMES)
def test_values_that_are_wrong_together_are_refused_before_a_process_is_reached(
    visit: Callable[..., LaunchContext], file: Path, name: str
) -> None:
    for wrong in TOGETHER[name]:
        with pytest.raises(Exception) as refused:  # noqa: PT011
            visit(file, **{**GOOD.get(name, {}), **wrong})
        assert not isinstance(refused.value, ReachedError), f"{wrong}: a process was started"
        assert "\n" not in str(refused.value).strip()


@pytest.mark.parametrize(("file", "name"), [*zip(FILES, NAMES, strict=True)], ids=NAMES)
def test_a_text_that_is_not_checked_is_one_that_is_named_here(file: Path, name: str) -> None:
    """A new argument has to have a kind, or a reason."""
    arguments = _arguments(file)
    assert {each for each, argument in arguments.items() if type(argument.kind) is kinds.AnyText} == FREE[name]
    assert all(any(_bad_values(argument)) for each, argument in arguments.items() if each not in FREE[name])


@pytest.mark.parametrize(("file", "name"), [*zip(FILES, NAMES, strict=True)], ids=NAMES)
def test_every_choice_is_taken(visit: Callable[..., LaunchContext], file: Path, name: str) -> None:
    """Also each spelling that a condition of a launch file accepts, which the nodes then read as one of two words."""
    for each, argument in _arguments(file).items():
        is_switch = isinstance(argument.kind, kinds.Switch)
        for value in SPELLINGS if is_switch else argument.choices or ():
            context = LaunchContext()
            context.launch_configurations[each] = value
            argument.execute(context)
            taken = context.launch_configurations[each]
            assert taken == (str(value.strip().lower() in ("true", "1")).lower() if is_switch else value)
    with pytest.raises(ReachedError):  # with nothing wrong the first process is reached
        visit(file, **GOOD.get(name, {}))


def test_the_bounds_of_a_number_are_those_of_the_node() -> None:
    """A value that the launch file takes and a node then refuses would end a graph that has started."""
    from kc_vla.nodes.episode_runner import RunnerParameters
    from kc_vla.nodes.foxglove import FoxgloveParameters
    from kc_vla.nodes.replay_comparison import ReplayParameters
    from kc_vla.nodes.robot_session import SessionParameters
    from kc_vla.nodes.viewer import ViewerParameters
    from kc_vla_sim.nodes.home_page import PageParameters
    from kc_vla_sim.nodes.home_session import HomeSessionParameters
    from kc_vla_sim.nodes.household import HouseholdParameters
    from kc_vla_sim.nodes.maniskill_bridge import BridgeParameters
    from kc_vla_sim.nodes.piper_simulator import SimulatorParameters

    graphs = ("maniskill", "piper", "replay", "robot")
    read_by: dict[tuple[str, str], tuple[type[NodeParameters], str]] = {
        ("household", "seed"): (HomeSessionParameters, "seed"),
        ("household", "pace"): (HouseholdParameters, "pace"),
        ("household", "page"): (PageParameters, "port"),
        ("maniskill", "seed"): (RunnerParameters, "seed"),
        ("maniskill", "episodes"): (RunnerParameters, "episodes"),
        ("maniskill", "image_size"): (BridgeParameters, "image_size"),
        **{(name, "duration"): (SessionParameters, "duration") for name in ("piper", "robot")},
        **{(name, "seed"): (SimulatorParameters, "seed") for name in ("piper", "robot")},
        ("replay", "rate"): (ReplayParameters, "rate"),
        **{(name, "viewer_port"): (ViewerParameters, "port") for name in graphs},
        **{(name, "foxglove_port"): (FoxgloveParameters, "port") for name in graphs},
    }
    for file, name in zip(FILES, NAMES, strict=True):
        for each, argument in _arguments(file).items():
            kind = argument.kind
            if not isinstance(kind, kinds.Number) or name == "annotate":
                continue
            parameters, field = read_by[name, each]
            rule = parameters.__dataclass_fields__[field].metadata["rule"]
            assert (kind.low, kind.high) == (rule.low, rule.high), f"{name} {each}"
            assert kind.whole == (parameters.__dataclass_fields__[field].type == "int"), f"{name} {each}"
