import torch

from kc_vla.learning.common import device
from kc_vla.learning.common.device import Device, choose_device


def told_times(monkeypatch, exact: float, rough: float) -> dict[bool, int]:
    """Steps take so many seconds of a clock of their own; returns how often each precision was measured."""
    clock, turns = [0.0], {False: 0, True: 0}

    def step(layer, pictures, half: bool) -> float:
        turns[half] += 1
        took = rough if half else exact
        clock[0] += took
        return took

    monkeypatch.setattr(device, "_step_time", step)
    monkeypatch.setattr(device.time, "perf_counter", lambda: clock[0])
    return turns


def test_a_processor_that_is_slow_in_bfloat16_computes_in_float32(monkeypatch):
    turns = told_times(monkeypatch, 0.01, 30.0)
    chosen = choose_device("cpu")
    assert chosen == Device("cpu", half=False)
    assert chosen.why == "a step in bf16 takes 3000.0 times as long here"
    assert turns == {False: 1, True: 1}  # the slow one is not measured for long


def test_a_processor_that_has_bfloat16_uses_it(monkeypatch):
    told_times(monkeypatch, 0.01, 0.004)
    chosen = choose_device("cpu")
    assert (chosen.precision, chosen.why) == ("bf16", "a step in bf16 takes 0.4 times as long here")


def test_a_precision_that_was_asked_for_is_not_measured(monkeypatch):
    turns = told_times(monkeypatch, 0.01, 30.0)
    assert choose_device("cpu", "bf16").half
    assert not choose_device("cpu", "fp32").half
    assert turns == {False: 0, True: 0}


def test_measuring_changes_neither_chance_nor_threads():
    torch.manual_seed(3)
    wanted, threads = torch.rand(1), torch.get_num_threads()
    torch.manual_seed(3)
    choose_device("cpu")
    assert torch.equal(torch.rand(1), wanted)
    assert torch.get_num_threads() == threads
