import pytest

from kc_vla.learning.common.config import ConfigError
from kc_vla.learning.selector.config import config_as_dict, config_from, load_config


def test_the_defaults_are_the_papers():
    config = load_config(None)
    assert (config.stage_one.batch, config.stage_one.epochs, config.stage_one.weight_decay) == (64, 30, 1e-3)
    assert (config.stage_two.batch, config.stage_two.epochs, config.stage_two.weight_decay) == (32, 50, 0.05)
    assert (config.window, config.stage_one.margin, config.stage_two.positive_weight) == (3, 1.0, 5.0)


def test_a_file_and_single_changes_take_the_place_of_defaults(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("image_size = 96\n[stage_two]\nintervals = 8\nepochs = 10\n")
    config = load_config(path, {"stage_two.epochs": "3", "init": "scratch"})
    assert (config.image_size, config.init) == (96, "scratch")
    assert (config.stage_two.intervals, config.stage_two.epochs) == (8, 3)
    assert config_from(config_as_dict(config)) == config


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stage_one.epoch": "3"}, "no setting 'stage_one.epoch': choose one of batch, epochs"),
        ({"colour": "3"}, "no setting 'colour'"),
        ({"stage_one.epochs": "many"}, "'stage_one.epochs' is 'many': it must be of type int"),
        ({"stage_one.epochs": "0"}, "'stage_one.epochs' is 0: it must be a number from 1"),
        ({"stage_one.margin": "nan"}, "'stage_one.margin' is nan"),
        ({"stage_one": "3"}, "'stage_one' is 3: it must be of type StageOne"),
        ({"window": "true"}, "'window' is True: it must be of type int"),
        ({"stage_one.neighbour_from": "12"}, "'stage_one.neighbour_from' is 12 and 'stage_one.neighbour_to' 10"),
        ({"stage_two.first": "4"}, "'stage_two.first' is 4 and 'stage_two.last' 1: there is no frame"),
        ({"init": "noise"}, "'init' is 'noise': choose one of scratch, imagenet, package"),
    ],
)
def test_what_cannot_be_set_is_told(changes, message):
    with pytest.raises(ConfigError, match=message):
        load_config(None, changes)


def test_a_missing_or_broken_file_is_told(tmp_path):
    with pytest.raises(ConfigError, match="no settings read from"):
        load_config(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("image_size = ")
    with pytest.raises(ConfigError, match="is no TOML"):
        load_config(broken)
