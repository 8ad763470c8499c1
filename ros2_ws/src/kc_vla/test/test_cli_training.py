import argparse

import pytest

from kc_vla.cli.__main__ import main
from kc_vla.cli.training import add_entry, add_settings, changed_settings, learning_status
from kc_vla.learning.common.errors import LearningError


def settings(*words):
    parser = argparse.ArgumentParser()
    add_settings(parser, "steps=2000")
    return changed_settings(parser.parse_args(words))


def test_settings_are_read_by_name_and_the_last_of_a_name_counts():
    assert settings() == {}
    assert settings("--set", "a.b=1", "--set", "text=x=y", "--set", "a.b=2") == {"a.b": "2", "text": "x=y"}


def test_a_setting_without_a_value_is_refused_with_an_example():
    with pytest.raises(LearningError, match="bad --set 'steps': write NAME=VALUE, as in steps=2000"):
        settings("--set", "steps")


def test_a_model_goes_into_a_folder_under_a_name():
    parser = argparse.ArgumentParser()
    add_entry(parser, "policy")
    options = parser.parse_args([])
    assert (str(options.models), options.name, options.replace) == ("my_models", "policy", False)


@pytest.mark.parametrize(("verb", "more"), [("train", ": the same command goes on"), ("export", "")])
def test_an_interruption_says_how_to_go_on(verb, more, capsys):
    def interrupted():
        raise KeyboardInterrupt

    assert learning_status(verb, interrupted) == 130
    assert capsys.readouterr().err == f"kc-vla {verb}: interrupted{more}\n"


def test_a_failure_is_one_line(capsys):
    def fails():
        raise LearningError("no episodes: collect some")

    assert learning_status("train", fails) == 1
    assert capsys.readouterr().err == "kc-vla train: no episodes: collect some\n"


@pytest.mark.parametrize("what", ["selector", "policy", "detector"])
def test_every_training_offers_the_same_settings_and_arithmetic(what, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["train", what, "--help"])
    assert ended.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for part in ("--config CONFIG", "--set NAME=VALUE one setting", "--device DEVICE", "--precision {auto,fp32,bf16}"):
        assert part in text
