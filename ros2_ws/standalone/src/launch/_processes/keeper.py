"""The keeper of a launch: ends what the launcher left behind when the launcher itself was killed.

Run as a program with the launch's tag as argument and the launcher's pipe as stdin. The launcher writes
one byte when it has ended in order; an end of file without it means that it was killed.
"""

import contextlib
import os
import signal
import subprocess
import sys

_SIGTERM_TIMEOUT_S = 5.0
_SIGKILL_TIMEOUT_S = 5.0


class Keeper:
    """The launcher's side: starts the keeper and says goodbye to it."""

    def __init__(self, launch_tag: str) -> None:
        read_end, self._write_end = os.pipe()
        # -I -S: no site-packages, so it starts within milliseconds and without the wheels' start-up hook.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, launch_tag],
            stdin=read_end,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )
        os.close(read_end)

    def say_goodbye(self) -> None:
        """Tell the keeper that nothing is left to do, and wait for its end."""
        # A broken pipe: somebody ended the keeper, and there is nothing left for it to keep.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._write_end, b".")
        os.close(self._write_end)
        self._process.wait()


def main(launch_tag: str) -> None:
    """Wait for the launcher; if it ends without goodbye, end everything that carries its tag."""
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(signal_number, signal.SIG_IGN)
    if os.read(0, 1) == b"":
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        from tags import end_tagged

        end_tagged(launch_tag, _SIGTERM_TIMEOUT_S, _SIGKILL_TIMEOUT_S)


if __name__ == "__main__":
    main(sys.argv[1])
