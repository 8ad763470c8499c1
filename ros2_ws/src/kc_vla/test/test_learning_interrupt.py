"""Ctrl-C in a verb of learning."""

import signal
import subprocess
import sys

import pytest

VERB = """
import hashlib, sys
from kc_vla.cli import learning

def endless(options):
    print("begins", flush=True)
    {work}

learning._train = endless
sys.exit(learning.main(["train", "selector"]))
"""
STEP_OF_MINUTES = 'hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)'  # outside Python, which cannot interrupt it
STEPS = "while True: pass"


@pytest.mark.parametrize("work", [STEP_OF_MINUTES, STEPS])
def test_an_interrupt_ends_it_also_within_a_step(work):
    program = [sys.executable, "-c", VERB.format(work=work)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "begins\n"
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()
    assert error.strip() == "kc-vla train: interrupted: the same command goes on"
    assert process.returncode == 130
