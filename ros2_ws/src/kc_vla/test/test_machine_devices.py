"""CAN interfaces and cameras, read from a /sys of ours and from answers as the programs and drivers give them."""

import errno
import json
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine_tree import ADAPTER, CAMERA, Tree, ip_row

from kc_vla.arm.can_health import BusState
from kc_vla.machine import v4l2
from kc_vla.machine.can_interfaces import can_interfaces, parse_details
from kc_vla.machine.commands import CommandError
from kc_vla.machine.devices import look_at_cameras, look_at_can
from kc_vla.machine.finding import Level
from kc_vla.machine.middleware import locked_files
from kc_vla.machine.system import listening
from kc_vla.machine.v4l2 import Capabilities, FrameSize, PixelFormat, capabilities
from kc_vla.machine.video_devices import video_devices


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def look(tree: Tree, *rows: dict):
    return look_at_can(tree.root, lambda root: can_interfaces(root, lambda words: json.dumps(rows)))


def test_a_machine_without_can_is_told_what_happens_then(tree):
    (tree.root / "sys/class/net").mkdir(parents=True)
    tree.net("eth0", kind=1)
    (found,) = look(tree)
    assert (found.level, found.what) == (Level.WARN, "no CAN interface")
    assert "emulated Piper" in found.do


@pytest.mark.parametrize(
    ("up", "row", "level", "what"),
    [
        (True, ip_row("can0"), Level.OK, "up at 1 Mbit/s, error-active"),
        (False, ip_row("can0", state="STOPPED"), Level.WARN, "down"),
        (True, ip_row("can0", bitrate=500_000), Level.WARN, "0.5 Mbit/s"),
        (True, ip_row("can0", restart_ms=0), Level.WARN, "stays off after a bus-off"),
        (True, ip_row("can0", state="ERROR-PASSIVE", tx=136), Level.WARN, "error-passive"),
        (True, ip_row("can0", state="BUS-OFF", tx=248), Level.FAIL, "bus-off"),
        (True, {"ifname": "can0", "linkinfo": {"info_kind": "vcan"}}, Level.OK, "virtual, up"),
    ],
)
def test_an_interface_and_its_bus_are_told(tree, up, row, level, what):
    tree.net("can0", up=up, usb=ADAPTER)
    (found,) = look(tree, row)
    assert (found.name, found.level) == ("CAN can0", level)
    assert what in found.what
    assert found.facts["serial"] == "004B0033"
    assert bool(found.do) is (level is not Level.OK)


def test_without_ip_an_interface_is_still_told(tree):
    tree.net("can0", up=True)

    def absent(words):
        raise CommandError("ip cannot be run: No such file or directory")

    found = look_at_can(tree.root, lambda root: can_interfaces(root, absent))
    assert (found[0].level, found[0].what) == (Level.OK, "up")
    assert "ip cannot be run" in found[1].what


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["ifname", "linkinfo", "info_kind", "info_data", "state", "berr_counter", "tx", "bittiming", "bitrate"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(JSON)
def test_whatever_ip_prints_is_understood_or_refused_in_a_line(content):
    if not isinstance(content, list):
        with pytest.raises(ValueError, match=r"^[^\n]*$"):
            parse_details(json.dumps(content))
        return
    details = parse_details(json.dumps(content))
    assert all(one.bitrate is None or one.bitrate >= 0 for one in details.values())


@given(st.text())
def test_what_is_no_json_is_refused(text):
    try:
        parse_details(text)
    except ValueError:
        return
    assert isinstance(json.loads(text), list)


@given(
    st.sampled_from(["ERROR-ACTIVE", "ERROR-WARNING", "ERROR-PASSIVE", "BUS-OFF"]),
    st.integers(1, 8_000_000),
    st.integers(0, 10_000),
    st.integers(0, 255),
)
def test_what_ip_says_comes_out_as_it_went_in(state, bitrate, restart_ms, tx):
    details = parse_details(json.dumps([ip_row("can3", state, bitrate, restart_ms, tx)]))["can3"]
    assert (details.bitrate, details.restart_ms, details.kind) == (bitrate, restart_ms, "can")
    assert details.health is not None
    assert (details.health.state, details.health.transmit_errors) == (BusState(state.lower()), tx)


@given(st.binary(max_size=300))
def test_tables_of_the_kernel_that_are_garbage_are_passed_over(tmp_path_factory, data):
    root = tmp_path_factory.mktemp("proc")
    (root / "proc/net").mkdir(parents=True)
    (root / "proc/net/tcp").write_bytes(data)
    (root / "proc/locks").write_bytes(data)
    assert all(0 <= port <= 0xFFFF for port in listening(root))
    assert isinstance(locked_files(root / "proc/locks"), set)


@given(st.lists(st.integers(0, 0xFFFF), max_size=8), st.sampled_from(["0A", "01"]))
def test_of_the_table_of_sockets_those_that_listen_are_taken(tmp_path_factory, ports, state):
    root = tmp_path_factory.mktemp("proc")
    (root / "proc/net").mkdir(parents=True)
    rows = [f"   {n}: 0100007F:{port:04X} 00000000:0000 {state} 00000000:0 0 0 0 1" for n, port in enumerate(ports)]
    (root / "proc/net/tcp6").write_text("\n".join(["  sl  local_address rem_address   st", *rows]))
    assert listening(root) == (sorted(set(ports)) if state == "0A" else [])


# --- cameras


class Camera:
    """Answers the questions of V4L2 as a driver does, for formats {code: {(width, height): [fps, ...]}}."""

    def __init__(self, formats: dict, captures: bool = True, stepwise: bool = False) -> None:
        self.formats, self.captures, self.stepwise = formats, captures, stepwise

    def ioctl(self, device: int, question: int, answer: bytearray) -> int:
        if question == v4l2.QUERYCAP:
            own = 0x04000000 | (0x1 if self.captures else 0x00800000)
            answer[:] = struct.pack(v4l2.CAPABILITY, b"uvcvideo", b"C920: HD\0", b"usb-1", 0, own | 0x80000001, own)
            return 0
        index, first, *rest = struct.unpack_from("=IIII", answer)
        codes = list(self.formats)
        if question == v4l2.ENUM_FMT:
            code = self._of(codes, index)
            answer[:] = struct.pack(v4l2.FORMAT, index, first, 0, b"any", int.from_bytes(code.encode(), "little"), 0)
            return 0
        sizes = self.formats[first.to_bytes(4, "little").decode()]
        if question == v4l2.ENUM_FRAMESIZES:
            size = self._of(list(sizes), index)
            kind = 3 if self.stepwise else 1
            answer[:] = struct.pack(v4l2.FRAME_SIZE, index, first, kind, struct.pack("=II", *size))
            return 0
        fps = self._of(sizes[tuple(rest)], index)
        answer[:] = struct.pack(v4l2.FRAME_INTERVAL, index, first, *rest, 1, struct.pack("=II", 1, fps))
        return 0

    @staticmethod
    def _of(listed: list, index: int):
        if index >= len(listed):
            raise OSError(errno.EINVAL, "Invalid argument")
        return listed[index]


FORMATS = {"YUYV": {(640, 480): [30, 15], (1280, 720): [10]}, "MJPG": {(1920, 1080): [30, 60]}}


def test_formats_sizes_and_rates_are_read(tmp_path):
    path = tmp_path / "video0"
    path.touch()
    assert capabilities(path, Camera(FORMATS).ioctl) == Capabilities(
        "C920: HD",
        True,
        (
            PixelFormat("YUYV", (FrameSize(640, 480, 30.0), FrameSize(1280, 720, 10.0))),
            PixelFormat("MJPG", (FrameSize(1920, 1080, 60.0),)),
        ),
    )
    assert capabilities(path, Camera(FORMATS, stepwise=True).ioctl).formats[0] == PixelFormat("YUYV", ())
    assert not capabilities(path, Camera(FORMATS, captures=False).ioctl).captures


@given(st.lists(st.binary(min_size=104, max_size=104), min_size=1, max_size=12))
def test_a_driver_that_answers_garbage_without_end_is_left_after_a_while(tmp_path_factory, answers):
    path = tmp_path_factory.mktemp("dev") / "video0"
    path.touch()
    asked = [0]

    def garbage(device, question, answer):
        answer[:] = answers[asked[0] % len(answers)][: len(answer)]
        asked[0] += 1
        return 0

    assert capabilities(path, garbage).card.isprintable()
    assert asked[0] <= 1 + 32 * (1 + 64 * 33)


def test_a_file_that_is_no_device_is_refused(tmp_path):
    (tmp_path / "video0").touch()
    with pytest.raises(OSError, match="Inappropriate ioctl"):
        capabilities(tmp_path / "video0")


def test_the_questions_are_those_of_the_kernels_header(tmp_path):
    header = Path("/usr/include/linux/videodev2.h")
    if not header.is_file() or shutil.which("g++") is None:
        pytest.skip("the kernel's headers are not installed")
    names = ("QUERYCAP", "ENUM_FMT", "ENUM_FRAMESIZES", "ENUM_FRAMEINTERVALS")
    structures = {"capability": v4l2.CAPABILITY, "fmtdesc": v4l2.FORMAT}
    structures |= {"frmsizeenum": v4l2.FRAME_SIZE, "frmivalenum": v4l2.FRAME_INTERVAL}
    lines = [f'printf("%lu ", (unsigned long)VIDIOC_{name});' for name in names]
    lines += [f'printf("%zu ", sizeof(struct v4l2_{name}));' for name in structures]
    lines.append('printf("%zu ", offsetof(struct v4l2_fmtdesc, pixelformat));')
    source = "#include <cstdio>\n#include <cstddef>\n#include <linux/videodev2.h>\nint main(){" + "".join(lines) + "}"
    (tmp_path / "a.cc").write_text(source)
    subprocess.run(["g++", "-o", tmp_path / "a", tmp_path / "a.cc"], check=True, timeout=120)
    told = subprocess.run([tmp_path / "a"], check=True, capture_output=True, text=True).stdout.split()
    ours = [getattr(v4l2, name) for name in names] + [struct.calcsize(one) for one in structures.values()] + [44]
    assert [int(number) for number in told] == ours


def ask(path: Path) -> Capabilities:
    return Capabilities("C920: HD", path.name != "video1", (PixelFormat("YUYV", (FrameSize(640, 480, 30.0),)),))


def test_cameras_are_told_with_their_formats_and_what_gives_no_pictures_is_not(tree):
    for number in (0, 1, 10, 2):
        tree.video(number, usb=CAMERA)
    found = look_at_cameras(tree.root, lambda root: video_devices(root, ask))
    assert [one.name for one in found] == ["camera video0", "camera video2", "camera video10"]
    assert found[0].what == "C920: HD: YUYV to 640x480 at 30/s"
    assert found[0].facts["serial"] == "A1B2C3"


def test_a_camera_that_may_not_be_opened_is_told_what_to_do(tree):
    tree.video(0)

    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    (found,) = look_at_cameras(tree.root, lambda root: video_devices(root, refuse))
    assert found.level is Level.WARN
    assert re.search("group 'video'", found.do)


def test_no_camera_is_a_warning(tree):
    (found,) = look_at_cameras(tree.root)
    assert (found.level, found.what) == (Level.WARN, "no V4L2 camera")
