"""What is made ready on a machine: said exactly, done only when asked to, and nothing of another hand is lost."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine_tree import ADAPTER, CAMERA, Tree, Usb, ip_row

from kc_vla.arm.claim import claim
from kc_vla.cli import main
from kc_vla.machine import setup_can, udev
from kc_vla.machine.commands import CommandError
from kc_vla.machine.own_files import is_ours, marked, writing_ours
from kc_vla.machine.plan import SetupError, SetupPlan, SetupStep, carry_out
from kc_vla.machine.setup_camera import plan_camera
from kc_vla.machine.setup_can import CanSettings, plan_can, plan_can_name
from kc_vla.machine.setup_real_time import plan_real_time
from kc_vla.machine.usb import UsbDevice
from kc_vla.machine.v4l2 import Capabilities

CAN = CanSettings()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


@pytest.fixture(autouse=True)
def no_udev(monkeypatch):
    monkeypatch.setattr(udev.shutil, "which", lambda name: None)


def answering(*rows: dict):
    return lambda words: json.dumps(rows)


def commands(plan: SetupPlan) -> list[str]:
    return [" ".join(step.words) for step in plan.steps]


# --- CAN


def test_an_interface_that_is_down_is_set_and_brought_up(tree):
    tree.net("can0")
    plan = plan_can("can0", CAN, tree.root, answering({"ifname": "can0", "linkinfo": {"info_kind": "can"}}))
    assert plan.lines(is_root=False) == [
        "can0 is down",
        "sudo ip link set can0 type can bitrate 1000000 restart-ms 100",
        "sudo ip link set can0 txqueuelen 1000",
        "sudo ip link set can0 up",
    ]
    assert plan.lines(is_root=True)[1].startswith("ip link set")


def test_one_that_is_as_it_should_be_is_left_alone(tree):
    tree.net("can0", up=True, queue=1000)
    plan = plan_can("", CAN, tree.root, answering(ip_row("can0")))
    assert plan.steps == ()
    assert "as it should be" in plan.told[0]


def test_only_what_differs_is_done(tree):
    tree.net("can0", up=True)
    assert commands(plan_can("can0", CAN, tree.root, answering(ip_row("can0")))) == ["ip link set can0 txqueuelen 1000"]


@pytest.mark.parametrize("row", [ip_row("can0", bitrate=500_000), ip_row("can0", restart_ms=0)])
def test_one_that_is_up_with_another_rate_is_taken_down_with_a_warning(tree, row):
    tree.net("can0", up=True, queue=1000)
    plan = plan_can("can0", CAN, tree.root, answering(row))
    assert [words.split()[-1] for words in commands(plan)] == ["down", "100", "up"]
    assert "park the arm" in plan.told[1]


def test_the_bus_is_not_taken_from_an_arm_that_is_driven(tree):
    tree.net("can0", up=True, queue=1000)
    sockets = tree.root / "proc/net/unix"
    sockets.parent.mkdir(parents=True)
    name = f"can_of_test_{os.getpid()}"
    with claim(name):
        sockets.write_text(Path("/proc/net/unix").read_text().replace(name, "can0"))
    with pytest.raises(SetupError, match="a controller drives the arm on can0: end it"):
        plan_can("can0", CAN, tree.root, answering(ip_row("can0", bitrate=500_000)))
    assert plan_can("can0", CAN, tree.root, answering(ip_row("can0"))).steps == ()
    sockets.write_text(Path("/proc/net/unix").read_text().replace(name, "can0"))
    assert plan_can("can0", CAN, tree.root, answering(ip_row("can0", bitrate=500_000))).steps


def test_one_that_is_off_the_bus_is_started_again(tree):
    tree.net("can0", up=True, queue=1000)
    plan = plan_can("can0", CAN, tree.root, answering(ip_row("can0", state="BUS-OFF")))
    assert [words.split()[-1] for words in commands(plan)] == ["down", "100", "up"]


def test_a_virtual_one_has_no_bit_rate(tree):
    tree.net("vcan0", queue=1000)
    plan = plan_can("vcan0", CAN, tree.root, answering({"ifname": "vcan0", "linkinfo": {"info_kind": "vcan"}}))
    assert commands(plan) == ["ip link set vcan0 up"]


def test_a_wrong_name_or_none_is_a_line_with_what_there_is(tree):
    with pytest.raises(SetupError, match="no CAN interface 'can7', and no other"):
        plan_can("can7", CAN, tree.root, answering())
    tree.net("can0", up=True)
    tree.net("eth0", kind=1)
    with pytest.raises(SetupError, match=r"no CAN interface 'eth0': there is can0 \(up at 1 Mbit/s, error-active\)$"):
        plan_can("eth0", CAN, tree.root, answering(ip_row("can0")))
    tree.net("can1")
    with pytest.raises(SetupError, match=r"name one of can0 \(.*\), can1 \(down\)"):
        plan_can("", CAN, tree.root, answering(ip_row("can0")))


def test_without_ip_nothing_is_guessed(tree):
    tree.net("can0", up=True)

    def absent(words):
        raise CommandError("ip cannot be run: No such file or directory")

    with pytest.raises(SetupError, match="apt-get install iproute2"):
        plan_can("can0", CAN, tree.root, absent)


def test_an_adapter_is_named_by_its_serial_number(tree):
    tree.net("can1", usb=ADAPTER)
    plan = plan_can_name("can1", "arm", CAN, tree.root, ask=answering(ip_row("can1")), ip="/usr/sbin/ip")
    carry_out(plan, is_root=True)
    rules = (tree.root / "etc/udev/rules.d/70-kc-vla-can-arm.rules").read_text()
    assert is_ours(rules)
    assert rules.splitlines()[1] == (
        'ACTION=="add", SUBSYSTEM=="net", ATTR{type}=="280", ATTRS{idVendor}=="1d50", ATTRS{idProduct}=="606f", '
        'ATTRS{serial}=="004B0033", NAME="arm", RUN+="/usr/sbin/ip link set arm up txqueuelen 1000 type can '
        'bitrate 1000000 restart-ms 100"'
    )
    assert "can:=arm" in plan.after[0]
    assert plan_can_name("can1", "arm", CAN, tree.root, ask=answering(ip_row("can1")), ip="/usr/sbin/ip").steps == ()


@pytest.mark.parametrize("name", ["can0", "vcan3", "", "Arm", "arm-left", "a" * 16, 'a",RUN+="x', "1arm"])
def test_names_that_the_kernel_or_a_rule_cannot_have_are_refused(tree, name):
    tree.net("can1", usb=ADAPTER)
    with pytest.raises(SetupError, match="cannot be called"):
        plan_can_name("can1", name, CAN, tree.root, ask=answering(ip_row("can1")))


def test_an_adapter_that_is_not_on_usb_has_no_number_to_go_by(tree):
    tree.net("can1")
    with pytest.raises(SetupError, match="no USB adapter"):
        plan_can_name("can1", "arm", CAN, tree.root, ask=answering(ip_row("can1")))


# --- cameras


def ask(path: Path) -> Capabilities:
    return Capabilities("C920", path.name not in ("video1", "video3"), ())


def test_a_camera_gets_a_name_by_its_serial_number(tree):
    tree.video(0, usb=CAMERA)
    tree.video(2, usb=Usb("046d", "082d", "OTHER", "1-3"))
    plan = plan_camera("wrist", "/dev/video2", tree.root, ask=ask)
    carry_out(plan, is_root=True)
    rules = tree.root / "etc/udev/rules.d/70-kc-vla-camera-wrist.rules"
    assert rules.read_text().splitlines()[1] == (
        'SUBSYSTEM=="video4linux", ATTR{index}=="0", ATTRS{idVendor}=="046d", ATTRS{idProduct}=="082d", '
        'ATTRS{serial}=="OTHER", SYMLINK+="kc_vla/wrist"'
    )
    assert os.stat(rules).st_mode & 0o777 == 0o644
    assert [path.name for path in rules.parent.iterdir()] == [rules.name]
    assert plan_camera("wrist", "2", tree.root, ask=ask).steps == ()


@pytest.mark.parametrize("serial", ["", 'x", RUN+="rm -rf /', "a*", "SAME"])
def test_one_without_a_number_of_its_own_goes_by_its_socket(tree, serial):
    tree.video(0, usb=Usb("046d", "082d", serial, "1-2.3"))
    tree.video(2, usb=Usb("046d", "082d", serial, "1-3"))
    plan = plan_camera("wrist", "video0", tree.root, ask=ask)
    rule = (plan.steps[0].given or "").splitlines()[1]
    assert rule == 'SUBSYSTEM=="video4linux", ATTR{index}=="0", KERNELS=="1-2.3:1.0", SYMLINK+="kc_vla/wrist"'
    assert any("USB socket, 1-2.3: leave it there" in line for line in plan.told)


def test_a_camera_that_is_not_there_is_a_line_with_those_that_are(tree):
    with pytest.raises(SetupError, match="no camera: plug it in"):
        plan_camera("wrist", "", tree.root, ask=ask)
    tree.video(0, usb=CAMERA)
    tree.video(1, usb=Usb("046d", "082d", "A1B2C3", "1-9"))
    assert "/dev/video0 is C920" in plan_camera("wrist", "", tree.root, ask=ask).told[0]
    with pytest.raises(SetupError, match=r"no camera '/dev/video9': there is video0 \(C920\)"):
        plan_camera("wrist", "/dev/video9", tree.root, ask=ask)
    tree.video(4)
    with pytest.raises(SetupError, match="several cameras: name one"):
        plan_camera("wrist", "", tree.root, ask=ask)
    with pytest.raises(SetupError, match="no USB camera"):
        plan_camera("wrist", "4", tree.root, ask=ask)
    with pytest.raises(SetupError, match=r"cannot be called '\.\./x'"):
        plan_camera("../x", "0", tree.root, ask=ask)


@given(st.text(max_size=40), st.booleans())
def test_no_serial_number_can_break_out_of_its_rule(serial, alike):
    match, _ = udev.matching(UsbDevice("046d", "082d", serial, "1-2", "1-2:1.0"), alike)
    assert re.fullmatch(r'([A-Z]+(\{\w+\})?=="[^"\\*?\[\]|]+"(, )?)+', match)
    assert "\n" not in match


# --- real time


def test_a_user_is_allowed_what_the_control_loop_needs(tree):
    plan = plan_real_time("ada", tree.root, known=lambda name: name)
    carry_out(plan, is_root=True)
    text = (tree.root / "etc/security/limits.d/kc_vla-ada.conf").read_text()
    assert text.splitlines()[1:] == ["ada - rtprio 50", "ada - memlock unlimited"]
    assert text.startswith("#")
    assert plan_real_time("ada", tree.root, known=lambda name: name).steps == ()


@pytest.mark.parametrize("user", ["nobody_has_this_name", "", "a b", "../x", "*", "@group", "a\nb - rtprio 99"])
def test_who_is_no_user_is_refused(tree, user):
    with pytest.raises(SetupError, match="no user"):
        plan_real_time(user, tree.root)


# --- files and steps


def test_what_another_hand_wrote_or_changed_is_not_overwritten(tmp_path):
    path = tmp_path / "a.rules"
    for text in ("mine\n", marked("ours\n") + "and mine\n"):
        path.write_text(text)
        with pytest.raises(SetupError, match="--replace") as refused:
            writing_ours(path, "ours, newer\n")
        assert "+ours, newer" in str(refused.value)
        assert path.read_text() == text
        plan = writing_ours(path, "ours, newer\n", replace=True)
        assert "-mine" in plan.told or "-and mine" in plan.told
    carry_out(plan, is_root=True)
    assert path.read_text() == marked("ours, newer\n")


def test_our_own_file_gets_what_is_new_and_says_what_changes(tmp_path):
    path = tmp_path / "a.rules"
    path.write_text(marked("old\n"))
    plan = writing_ours(path, "new\n")
    assert {"-old", "+new"} <= set(plan.told)
    carry_out(plan, is_root=True)
    assert writing_ours(path, "new\n").steps == ()


@given(st.text())
def test_a_text_is_ours_as_long_as_nobody_changed_it(body):
    assert is_ours(marked(body))
    assert not is_ours(marked(body) + "x")
    assert not is_ours(body) or body.startswith("# Written by")


def test_what_is_printed_can_be_put_into_a_shell_as_it_is(tmp_path):
    path = tmp_path / "a b/c.rules"
    plan = writing_ours(path, 'x=="$HOME" `date` \\ \'\n')
    subprocess.run(["bash", "-e", "-c", "\n".join(plan.lines(is_root=True))], check=True, timeout=60)
    assert path.read_text() == marked('x=="$HOME" `date` \\ \'\n')


def test_sudo_is_used_only_where_it_is_needed_and_asked_once():
    ran, asked = [], []
    plan = SetupPlan((SetupStep(("a",), False), SetupStep(("b", "c"), True, "text")))
    carry_out(plan, False, lambda command, given: ran.append((command, given)) or "", lambda: asked.append(1))
    assert ran == [(["a"], None), (["sudo", "--non-interactive", "b", "c"], "text")]
    assert asked == [1]
    carry_out(plan, True, lambda command, given: ran.append((command, given)) or "")
    assert ran[-1] == (["b", "c"], "text")
    assert asked == [1]


def test_after_a_step_that_fails_none_follows_and_it_is_said_how_far_it_went(tmp_path):
    plan = SetupPlan(
        (SetupStep(("true",), True), SetupStep(("false",), True), SetupStep(("touch", str(tmp_path / "x")), True))
    )
    with pytest.raises(SetupError, match="'false' failed with status 1: -; 1 of 3 steps were done"):
        carry_out(plan, is_root=True)
    assert not (tmp_path / "x").exists()


def test_a_file_in_a_folder_of_ones_own_needs_no_root(tmp_path):
    assert not any(step.root for step in writing_ours(tmp_path / "new/folder/a.conf", "x\n").steps)


def test_where_udev_is_its_rules_are_read_again(tree, monkeypatch):
    monkeypatch.setattr(udev.shutil, "which", lambda name: f"/usr/bin/{name}")
    tree.video(0, usb=CAMERA)
    assert commands(plan_camera("wrist", "", tree.root, ask=ask))[-2:] == [
        "udevadm control --reload",
        "udevadm trigger --action=change --subsystem-match=video4linux",
    ]


# --- the verb


@pytest.fixture
def can_of_this_machine(tree, monkeypatch):
    tree.net("can0")
    ran: list[list[str]] = []

    def run(command, given):
        ran.append(list(command))
        return ""

    def interfaces(root, ask):
        return real(tree.root, answering({"ifname": "can0", "linkinfo": {"info_kind": "can"}}))

    real = setup_can.can_interfaces
    monkeypatch.setattr(setup_can, "can_interfaces", interfaces)
    monkeypatch.setattr("kc_vla.machine.plan._run", run)
    monkeypatch.setattr("kc_vla.machine.plan.running_as_root", lambda: True)
    return ran


def test_it_says_and_does_nothing_unless_asked_to(can_of_this_machine, capsys):
    assert main(["setup", "can", "can0"]) == 0
    told = capsys.readouterr().out
    assert "\nip link set can0 up\n" in told
    assert "nothing was done" in told
    assert can_of_this_machine == []


@pytest.mark.parametrize(("answer", "done"), [("y", True), ("", False), ("no", False)])
def test_it_asks_and_does_what_was_agreed_to(can_of_this_machine, monkeypatch, capsys, answer, done):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt: answer)
    assert main(["setup", "can", "--do"]) == (0 if done else 1)
    assert bool(can_of_this_machine) is done
    assert ("nothing was done" in capsys.readouterr().err) is not done


def test_nobody_there_to_ask_is_no_agreement(can_of_this_machine):
    assert main(["setup", "can", "--do"]) == 1
    assert can_of_this_machine == []
    assert main(["setup", "can", "--yes", "--bitrate", "500000"]) == 0
    assert "500000" in can_of_this_machine[0]


def test_a_wrong_name_is_one_line_and_status_1(can_of_this_machine, capsys):
    assert main(["setup", "can", "can9", "--yes"]) == 1
    told = capsys.readouterr()
    assert told.err == "kc-vla setup can: no CAN interface 'can9': there is can0 (down)\n"
    assert told.out == ""


@pytest.mark.parametrize("words", [["setup"], ["setup", "camera"], ["setup", "can", "--bitrate", "0"]])
def test_wrong_arguments_are_status_2(words):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2


def test_what_a_control_loop_needs_is_said_and_not_done(capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(Path("/etc/security/limits.d").glob("*"))
    assert main(["setup", "realtime", "--user", "nobody"]) == 0
    told = capsys.readouterr()
    assert "nobody" in told.out
    assert "rtprio" in told.out
    assert told.err == ""
    assert sorted(Path("/etc/security/limits.d").glob("*")) == before
