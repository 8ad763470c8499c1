"""Looks at ROS 2 and what carries its messages: which ROS, the middleware's profile, shared memory."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

from kc_vla.core.files import locks
from kc_vla.core.untrusted import read_text
from kc_vla.machine.finding import Finding, Level

STAMP = "kc_vla_stamp"
"""What ./setup.sh leaves in the environment that it made, in lines name=value."""
_NEEDED = ("rclpy", "kc_vla_msgs", "control_msgs", "tf2_msgs", "vision_msgs")
_FAST_DDS = "rmw_fastrtps_cpp"
_PROFILE_NAMES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
_LEAST_SEGMENT = 8 << 20
"""Several images of 640x480, in bytes: launch/params/fastdds.xml."""
_MOST_DOMAIN, _MOST_EASY_DOMAIN = 232, 101
_LEAST_SHARED, _LITTLE_SHARED = 64 << 20, 512 << 20
"""Free bytes of shared memory for a few processes of 18 MB each, and for a whole graph with its viewers."""
_AGAIN = "./setup.sh, then source env.sh"


def stamp(prefix: Path) -> dict[str, str]:
    """Return what ./setup.sh noted in the environment `prefix`; empty where it did not make it."""
    try:
        text = read_text(prefix / STAMP, 1 << 16)
    except (OSError, ValueError):
        return {}
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def look_at_ros(
    prefix: Path,
    environment: Mapping[str, str],
    root: Path = Path("/"),
    found: Callable[[str], object] = find_spec,
) -> list[Finding]:
    """Return which ROS 2 runs the stack; `./setup.sh --check` looks at what is installed, this at what is in use.

    Args:
        prefix: of the Python environment.
        environment: variables of this process.
        root: what /opt is below.
        found: whether Python finds a module.
    """
    origin, distribution = stamp(prefix).get("ros", ""), environment.get("ROS_DISTRO", "")
    missing = [name for name in _NEEDED if not found(name)]
    facts = {"origin": origin, "distribution": distribution, "missing": missing}
    if distribution not in ("", "jazzy"):
        what, do = f"ROS 2 {distribution} is sourced, Jazzy is needed", "open a shell without it, then source env.sh"
        return [Finding("ROS 2", Level.FAIL, what, do, facts)]
    if missing:
        return [Finding("ROS 2", Level.FAIL, f"Python does not find {' and '.join(missing)}", _AGAIN, facts)]
    if origin == "wheels":
        installed = (root / "opt/ros/jazzy/setup.bash").is_file()
        what = "Jazzy, from Python wheels"
        if installed:
            what += "; /opt/ros/jazzy was installed since"
            return [Finding("ROS 2", Level.WARN, what, f"{_AGAIN}: it takes the installed one", facts)]
        return [Finding("ROS 2", Level.OK, what, facts=facts)]
    if origin and not Path(origin, "setup.bash").is_file():
        return [Finding("ROS 2", Level.FAIL, f"Jazzy was at {origin} at set-up and is not any more", _AGAIN, facts)]
    if not origin and not distribution:
        return [Finding("ROS 2", Level.WARN, "not told which: env.sh is not sourced", "source env.sh", facts)]
    return [Finding("ROS 2", Level.OK, f"Jazzy, installed at {origin or 'a place of its own'}", facts=facts)]


def look_at_middleware(environment: Mapping[str, str]) -> list[Finding]:
    """Return what the variables of this process say of the middleware, and whether its profile gives images room."""
    middleware = environment.get("RMW_IMPLEMENTATION") or _FAST_DDS
    domain = environment.get("ROS_DOMAIN_ID") or "0"
    reach = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE") or "SUBNET"
    profile = next((environment[name] for name in _PROFILE_NAMES if environment.get(name)), "")
    facts = {"middleware": middleware, "domain": domain, "range": reach, "profile": profile}

    def finding(level: Level, what: str, do: str = "") -> list[Finding]:
        return [Finding("middleware", level, what, do, facts)]

    if not (domain.isascii() and domain.isdecimal() and int(domain[:9]) <= _MOST_DOMAIN):
        return finding(
            Level.FAIL, f"ROS_DOMAIN_ID={domain[:40]} is no domain", f"take a number of 0..{_MOST_EASY_DOMAIN}"
        )
    told = f"{middleware}, domain {domain}, {'this machine alone' if reach == 'LOCALHOST' else reach.lower()}"
    if middleware != _FAST_DDS:
        do = f"it is not tried here: unset RMW_IMPLEMENTATION for {_FAST_DDS}, or give it shared memory for pictures"
        return finding(Level.WARN, told, do)
    if not profile:
        return finding(Level.WARN, f"{told}, no profile: large pictures get lost", "source env.sh")
    try:
        segment = _shared_segment(Path(profile))
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        return finding(Level.FAIL, f"the profile {profile} cannot be used: {said}", "source env.sh in a new shell")
    if segment < _LEAST_SEGMENT:
        what = f"{told}; the profile {profile} has shared memory of {segment >> 10} KiB: large pictures get lost"
        return finding(Level.WARN, what, f"give it a segment_size of {_LEAST_SEGMENT} or more, or source env.sh anew")
    if int(domain) > _MOST_EASY_DOMAIN:
        do = f"its ports are given to other programs, too: take 0..{_MOST_EASY_DOMAIN}"
        return finding(Level.WARN, told, do)
    return finding(Level.OK, f"{told}, {segment >> 20} MiB of shared memory each ({Path(profile).name})")


def _shared_segment(profile: Path) -> int:
    """Return the bytes of the largest shared memory that a profile of Fast DDS gives a process; 0: none.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no XML.
    """
    text = read_text(profile, 1 << 20)
    try:
        tree = ElementTree.fromstring(text)
    except (ElementTree.ParseError, UnicodeError) as error:
        raise ValueError(f"it is no XML: {error}") from None
    sizes = [0]
    for transport in tree.iter():
        words = {child.tag.rsplit("}", 1)[-1]: (child.text or "").strip() for child in transport}
        if words.get("type") == "SHM" and (size := words.get("segment_size", "")).isascii() and size.isdecimal():
            sizes.append(int(size[:12]))
    return max(sizes)


def look_at_shared_memory(
    root: Path = Path("/"), room: Callable[[Path], os.statvfs_result] = os.statvfs
) -> list[Finding]:
    """Return how much shared memory is free, and how much belongs to processes that have ended."""
    folder = root / "dev/shm"
    if not folder.is_dir():
        do = "mount it: 'sudo mount -t tmpfs tmpfs /dev/shm' (a container: --shm-size 1g)"
        return [Finding("shared memory", Level.FAIL, f"there is no {folder}", do)]
    of_all = room(folder)
    size, free = of_all.f_blocks * of_all.f_frsize, of_all.f_bavail * of_all.f_frsize
    segments = left_behind(folder, root / "proc/locks")
    left = _bytes_of(segments)
    facts = {"bytes": size, "free": free, "left_behind": left}
    told = f"{_amount(free)} of {_amount(size)} free"
    if not os.access(folder, os.W_OK | os.X_OK):
        return [Finding("shared memory", Level.FAIL, f"{folder} may not be written", f"chmod 1777 {folder}", facts)]
    if left > size // 10 or (left and free < _LITTLE_SHARED):
        told += f", {_amount(left)} left in {len(segments)} segments by processes that ended"
        do = f"while nothing of ROS runs: rm {folder}/fastrtps_* {folder}/sem.fastrtps_*"
        return [Finding("shared memory", Level.FAIL if free < _LEAST_SHARED else Level.WARN, told, do, facts)]
    if free < _LITTLE_SHARED:
        do = "each process takes 18 MB, pictures get lost without: a container takes --shm-size 1g or --ipc host"
        return [Finding("shared memory", Level.FAIL if free < _LEAST_SHARED else Level.WARN, told, do, facts)]
    return [Finding("shared memory", Level.OK, told, facts=facts)]


def left_behind(folder: Path, locks: Path) -> list[Path]:
    """Return Fast DDS's segments whose processes are no more.

    A process holds a lock on the file <segment>_el for as long as it lives. /proc/locks names those of this machine;
    of those outside a container it knows nothing, and nothing is said where it cannot be read. It is not read in one
    go: what it leaves out is asked for its lock, too.
    """
    held = locked_files(locks)
    if held is None:
        return []
    left = []
    for mark in folder.glob("fastrtps_*_el"):
        segment = mark.with_name(mark.name.removesuffix("_el"))
        with suppress(OSError):  # gone since
            if mark.stat().st_ino not in held and "port" not in mark.name and segment.exists() and _is_free(mark):
                left.append(segment)
    return left


def _is_free(file: Path) -> bool:
    with file.open("rb") as opened:
        return locks(opened, fcntl.LOCK_SH)


def _bytes_of(segments: Sequence[Path]) -> int:
    size = 0
    for segment in segments:
        with suppress(OSError):
            size += segment.stat().st_blocks * 512
    return size


def locked_files(locks: Path) -> set[int] | None:
    """Return numbers (inodes) of all files that /proc/locks names; None where it cannot be read."""
    try:
        lines = locks.read_text(errors="replace").splitlines()
    except OSError:
        return None
    places = (line.split()[-3].split(":") for line in lines if len(line.split()) >= 3)
    return {int(place[2]) for place in places if len(place) == 3 and place[2].isascii() and place[2].isdecimal()}


def _amount(number: int) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.0f} MB"
