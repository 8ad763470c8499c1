"""`policy:=lerobot`: which robots it moves, what it is shown, and what it says where it cannot."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from act_files import PANDA_LIKE, PIPER_LIKE, STATELESS, seen, write_act

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot, load_robot
from kc_vla.learning.act.export import export_act
from kc_vla.policy.backends import PolicyContext, open_backend
from kc_vla.policy.interface import PolicyError, PolicyInput

EPISODE = Episode("counting-1", "counting", "push", 0, 50_000_000, True)
PIPER, PANDA = load_robot("piper"), load_robot("panda_sim")


@pytest.fixture(scope="module")
def piper_like(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_act(write_act(tmp_path_factory.mktemp("piper"), PIPER_LIKE))[0].parent


@pytest.fixture(scope="module")
def panda_like(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_act(write_act(tmp_path_factory.mktemp("panda"), PANDA_LIKE))[0].parent


def opened(folder: Path | str, robot: Robot, horizon: int = 16):
    return open_backend("lerobot", PolicyContext(robot, horizon), {"checkpoint": str(folder)})


def given(state: np.ndarray, **views: np.ndarray) -> PolicyInput:
    return PolicyInput(0, views, [], state.astype(float), "push", np.empty((0, 0), np.float32))


def of_piper() -> PolicyInput:
    told = seen(PIPER_LIKE, 0)
    top, wrist = told["observation.images.top"], told["observation.images.wrist"]
    return given(told["observation.state"], third_person=top, wrist=wrist)


def test_it_moves_the_joints_that_its_numbers_are(piper_like: Path) -> None:
    backend = opened(piper_like, PIPER)
    assert (backend.action_type, backend.names) == (ActionType.JOINT_POSITION, PIPER.names)
    assert backend.reset(EPISODE) == ""
    chunk = backend.infer(of_piper())
    wanted = np.load(Path(__file__).parent / "data/act_chunks.npz")["piper_like"][0]
    np.testing.assert_allclose(chunk, wanted[:16], atol=1e-5)


@pytest.mark.parametrize(("horizon", "rows"), [(4, 12), (16, 16), (64, 20)])
def test_a_chunk_is_as_long_as_it_executes_or_as_the_robot_wants(piper_like: Path, horizon: int, rows: int) -> None:
    assert opened(piper_like, PIPER, horizon).infer(of_piper()).shape == (rows, 7)


def test_it_moves_the_tool_by_deltas_and_says_that_it_does_not_ensemble(panda_like: Path) -> None:
    backend = opened(panda_like, PANDA)
    assert (backend.action_type, backend.names) == (ActionType.TOOL_DELTA, TOOL_DELTA_NAMES)
    assert "asks for temporal ensembling (0.01), which is not done here" in backend.reset(EPISODE)
    picture = np.full((64, 64, 3), 255, np.uint8)
    chunk = backend.infer(given(np.full(8, 9.0), third_person=picture))  # far from what it has learnt from
    assert chunk[:, 6].min() >= 0.0
    assert chunk[:, 6].max() <= 1.0


def test_pictures_of_another_size_are_made_smaller_and_of_another_shape_refused(piper_like: Path) -> None:
    backend, known = opened(piper_like, PIPER), of_piper()
    chunk = backend.infer(known)
    larger = {view: np.repeat(np.repeat(picture, 2, 0), 2, 1) for view, picture in known.views.items()}
    np.testing.assert_allclose(backend.infer(replace(known, views=larger)), chunk, atol=1e-6)
    cut = {**known.views, "wrist": known.views["wrist"][:40]}
    with pytest.raises(PolicyError, match=r"the images of wrist are 64 x 40, .* trained on 64 x 64"):
        backend.infer(replace(known, views=cut))
    with pytest.raises(PolicyError, match="there is no such image"):
        backend.infer(replace(known, views={}))


def test_another_robot_or_other_cameras_are_told(piper_like: Path, tmp_path: Path) -> None:
    with pytest.raises(
        PolicyError, match=r"state of 7 numbers and gives actions of 7: the robot 'panda_sim' has 9 and 9"
    ):
        opened(piper_like, PANDA)
    one_eyed = replace(PIPER, cameras={"third_person": "camera"})
    with pytest.raises(PolicyError, match=r"looks at observation\.images\.wrist: the robot 'piper' has no such view"):
        opened(piper_like, one_eyed)
    with pytest.raises(PolicyError, match="only one with a state tells which"):
        opened(export_act(write_act(tmp_path, STATELESS))[0].parent, PIPER)


def test_what_is_not_exported_or_has_changed_since_says_what_to_run(piper_like: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(piper_like, tmp_path / "act"))
    (folder / "config.json").write_text((folder / "config.json").read_text() + "\n")
    with pytest.raises(PolicyError, match=r"config\.json has changed since .*: run `kc-vla export act .*` again"):
        opened(folder, PIPER)
    (folder / "kc_vla_act.onnx").write_bytes(b"no model")
    with pytest.raises(PolicyError, match=r"cannot be loaded .*: run `kc-vla export act .*` again"):
        opened(folder, PIPER)
    (folder / "kc_vla_act.onnx").unlink()
    with pytest.raises(PolicyError, match=r"is not there, which is what runs here .*: run `kc-vla export act"):
        opened(folder, PIPER)


def test_an_onnx_file_of_something_else_is_refused(piper_like: Path, tmp_path: Path) -> None:
    import onnx

    folder = Path(shutil.copytree(piper_like, tmp_path / "act"))
    model = onnx.load(str(folder / "kc_vla_act.onnx"))
    del model.metadata_props[:]
    onnx.save(model, str(folder / "kc_vla_act.onnx"))
    with pytest.raises(PolicyError, match="its entry 'kc_vla_act' is damaged"):
        opened(folder, PIPER)


def test_without_a_folder_or_with_another_policy_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="policy:=lerobot needs checkpoint:="):
        opened("", PIPER)
    with pytest.raises(PolicyError, match="a 'smolvla' policy"):
        opened(write_act(tmp_path, PIPER_LIKE, kind="smolvla"), PIPER)
