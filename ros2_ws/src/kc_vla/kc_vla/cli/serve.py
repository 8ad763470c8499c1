"""`kc-vla serve policy`."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kc_vla.cli.numbers import port, positive
from kc_vla.cli.renamed_option import add_robot
from kc_vla.cli.verbs import exit_status
from kc_vla.core.errors import StackError
from kc_vla.inference.models import ModelError
from kc_vla.policy.options import TOKEN

if TYPE_CHECKING:
    from kc_vla.policy.serving.served import Served

_EPILOG = """\
examples:
  kc-vla serve policy --protocol openpi
  KC_VLA_POLICY_TOKEN=secret kc-vla serve policy --protocol groot --host 0.0.0.0 --models my_models --name mine
"""


def main(words: Sequence[str]) -> int:
    """Serve until it is interrupted; return the exit status: 0, 1 for a failure in a line, 2 for bad arguments."""
    parser = argparse.ArgumentParser(
        prog="kc-vla serve",
        description="Serve a learned policy to clients of openpi or GR00T. docs/policy_servers.md",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=["policy"], help="what is served")
    parser.add_argument("--protocol", choices=["openpi", "groot"], required=True, help="protocol of the clients")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: this machine alone)")
    parser.add_argument("--port", type=port, help="(default: 8000 for openpi, 5555 for groot; 0: any free one)")
    parser.add_argument(
        "--token", default="", help=f"token that clients must send (default: the environment variable {TOKEN})"
    )
    parser.add_argument("--models", default="", help="folder with a registry of models (default: the shipped ones)")
    parser.add_argument("--name", default="policy", help="name of the policy in there (default: policy)")
    add_robot(parser, "", "a name of robots/, or a YAML file (default: the robot of the policy)")
    parser.add_argument("--mapping", default="", help="mapping to the clients' names and units (default: the robot's)")
    parser.add_argument(
        "--dialect", choices=["n1.5", "n1.6"], help="groot: how the server describes its modalities (default: n1.6)"
    )
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto", help="device for the model")
    parser.add_argument("--threads", type=positive, default=1, help="CPU threads for the model (default: 1)")
    options = parser.parse_args(words[1:])
    if options.dialect and options.protocol != "groot":
        parser.error("--dialect is of groot's clients: leave it out")
    return exit_status("serve policy", lambda: _serve(options), ModelError, StackError)


def _serve(options: argparse.Namespace) -> None:
    from kc_vla.core.robot import load_robot
    from kc_vla.inference.models import models_in
    from kc_vla.policy.backends import PolicyContext
    from kc_vla.policy.learned import open_learned
    from kc_vla.policy.model import load_policy
    from kc_vla.policy.options import LearnedOptions
    from kc_vla.policy.remote.mapping_file import load_mapping
    from kc_vla.policy.serving.access import check_access
    from kc_vla.policy.serving.served import Served

    token = options.token or os.environ.get(TOKEN, "")
    check_access(options.host, token)
    folder = models_in(options.models)
    model = load_policy(folder, options.name)
    robot = load_robot(options.robot or model.robot)
    chosen = LearnedOptions(options.name, str(folder), options.device, options.threads)
    mapping = load_mapping(options.mapping, robot, options.protocol)
    served = Served(open_learned(PolicyContext(robot, model.horizon), chosen), mapping, model.slots)
    told = f"the policy '{model.name}' of a {robot.name}, as the mapping '{mapping.name}' says"
    asyncio.run(_until_interrupted(options, served, token, model.horizon, told))


async def _until_interrupted(options: argparse.Namespace, served: Served, token: str, horizon: int, told: str) -> None:
    from kc_vla.policy.serving import groot, openpi

    ends = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ends.set)
    server: openpi.OpenPiServer | groot.GrootServer
    if options.protocol == "openpi":
        wanted, server = openpi.PORT, openpi.OpenPiServer(served, token, _say)
    else:
        wanted, server = groot.PORT, groot.GrootServer(served, token, options.dialect or "n1.6", horizon, _say)
    if options.port is not None:
        wanted = options.port
    async with server.listening(options.host, wanted) as where:
        _say(f"{where}: serves {told} (Ctrl-C ends it)")
        await ends.wait()


def _say(text: str) -> None:
    print(text, flush=True)
