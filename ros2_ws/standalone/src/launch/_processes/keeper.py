"""The keeper of a launch: ends what the launcher left behind when the launcher itself was killed.

Run as a program with the launch's tag as argument and the launcher's pipe as stdin. The launcher writes a
line for each session that it starts (`+123`) and that has ended (`-123`), and `.` when it has ended in order;
an end of file without that means that it was killed.
"""

import contextlib
import os
import signal
import subprocess
import sys

_SIGTERM_TIMEOUT_S = 5.0
_SIGKILL_TIMEOUT_S = 5.0


class Keeper:
    """The launcher's side: starts the keeper and talks to it."""

    def __init__(self, launch_tag: str, tag_variable: str) -> None:
        read_end, self._write_end = os.pipe()
        # -I -S: no site-packages, so it starts within milliseconds and without the wheels' start-up hook.
        # Without the tag of an outer launch, which must not end this keeper before its work is done.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, launch_tag],
            stdin=read_end,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name != tag_variable},
            cwd="/",
            start_new_session=True,
        )
        os.close(read_end)

    def add_session(self, session: int) -> None:
        """Tell the keeper about a session that was started."""
        self._tell(f"+{session}")

    def remove_session(self, session: int) -> None:
        """Tell the keeper that nothing is left of a session."""
        self._tell(f"-{session}")

    def say_goodbye(self) -> None:
        """Tell the keeper that nothing is left to do, and wait for its end."""
        self._tell(".")
        os.close(self._write_end)
        self._process.wait()

    def _tell(self, line: str) -> None:
        # A broken pipe: somebody ended the keeper. The launcher goes on; its own shutdown does not need it.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._write_end, f"{line}\n".encode())


def main(launch_tag: str) -> None:
    """Follow the launcher; if it ends without goodbye, end everything that it started."""
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(signal_number, signal.SIG_IGN)
    sessions: set[int] = set()
    for line in sys.stdin:
        if line.startswith("+"):
            sessions.add(int(line[1:]))
        elif line.startswith("-"):
            sessions.discard(int(line[1:]))
        else:
            return
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from tags import end_pids

    end_pids(launch_tag, sessions, _SIGTERM_TIMEOUT_S, _SIGKILL_TIMEOUT_S)


if __name__ == "__main__":
    main(sys.argv[1])
