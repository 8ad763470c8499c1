"""Executes a process and keeps watch over it."""

from __future__ import annotations

import asyncio
import itertools
import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._entities import as_entities
from .._evaluation import evaluate_text
from ..action import Action
from ..condition import Condition
from ..conditions import evaluate_condition_expression
from ..event_handlers import OnProcessExit
from ..events.process import ProcessExited
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_entities_type import SomeEntitiesType
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..substitutions import LaunchConfiguration
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions
from ._process_run import ProcessRun, RunOptions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

ExitReaction = SomeEntitiesType | Callable[[ProcessExited, "LaunchContext"], SomeEntitiesType | None]
Environment = Mapping[SomeSubstitutionsType, SomeSubstitutionsType]

_PROCESS_NUMBERS = itertools.count(1)
_SIGTERM_TIMEOUT_S = LaunchConfiguration("sigterm_timeout", default=5)
_SIGKILL_TIMEOUT_S = LaunchConfiguration("sigkill_timeout", default=5)


class ExecuteProcess(Action):
    """Starts `cmd` and shuts it down in order: SIGINT, after `sigterm_timeout` s SIGTERM, then SIGKILL.

    `env` replaces the environment, `additional_env` adds to it. `output` says where stdout and stderr go
    (see `launch.logging`). With `respawn` the process is started again `respawn_delay` s after its end,
    at most `respawn_max_retries` times unless that is negative, and never during a shutdown.
    """

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        prefix: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        cwd: SomeSubstitutionsType | None = None,
        env: Environment | None = None,
        additional_env: Environment | None = None,
        shell: bool = False,
        sigterm_timeout: SomeSubstitutionsType | float = _SIGTERM_TIMEOUT_S,
        sigkill_timeout: SomeSubstitutionsType | float = _SIGKILL_TIMEOUT_S,
        emulate_tty: bool = False,
        output: SomeSubstitutionsType | Mapping[str, Any] = "log",
        output_format: str = "[{this.name}] {line}",
        log_cmd: bool = False,
        on_exit: ExitReaction | None = None,
        respawn: bool | SomeSubstitutionsType = False,
        respawn_delay: float | None = None,
        respawn_max_retries: int = -1,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        self._cmd = [normalize_to_list_of_substitutions(part) for part in cmd]
        self._prefix = prefix
        self._label = name
        self._cwd = cwd
        self._env = env
        self._additional_env = additional_env
        self._shell = shell
        self._sigterm_timeout = sigterm_timeout
        self._sigkill_timeout = sigkill_timeout
        self._emulate_tty = emulate_tty
        self._output = output
        self._output_format = output_format
        self._log_cmd = log_cmd
        self._on_exit = on_exit
        self._respawn = respawn
        self._respawn_delay_s = respawn_delay or 0.0
        self._respawn_max_retries = respawn_max_retries
        self._run: ProcessRun | None = None

    # --- what launch files may ask

    @property
    def name(self) -> str | None:
        """Return the name in the output, `<executable>-<number>`; None before the action is executed."""
        return None if self._run is None else self._run.name

    @property
    def cmd(self) -> list[list[Substitution]]:
        """Return the command as substitutions, one list for each word."""
        return self._cmd

    @property
    def process_details(self) -> dict[str, Any] | None:
        """Return the action, name, cmd, cwd, env and pid of the process; None before it is started."""
        return None if self._run is None else self._run.details

    @property
    def return_code(self) -> int | None:
        """Return the exit code of the last run; None if none has ended."""
        return None if self._run is None else self._run.return_code

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that ends when the process has ended for good and has left nothing behind."""
        return None if self._run is None else self._run.completed

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities of `on_exit`, as far as they are known beforehand."""
        return [] if callable(self._on_exit) else as_entities(self._on_exit)

    # --- execution

    def execute(self, context: LaunchContext) -> None:
        """Begin to run the process; an error in its description is raised here, one in starting it is not."""
        if self._run is not None:
            raise RuntimeError(f"the action of process '{self.name}' was executed more than once")
        if context.is_shutdown:
            return
        options = RunOptions(
            name=f"{self._base_name(context)}-{next(_PROCESS_NUMBERS)}",
            cmd=self._evaluated_cmd(context),
            cwd=None if self._cwd is None else evaluate_text(context, self._cwd),
            env=self._evaluated_environment(context),
            shell=self._shell,
            emulate_tty=self._evaluated_emulate_tty(context),
            sigterm_timeout_s=_seconds(context, self._sigterm_timeout),
            sigkill_timeout_s=_seconds(context, self._sigkill_timeout),
            output=self._evaluated_output(context),
            output_format=self._output_format,
            log_cmd=self._log_cmd,
            respawn=_truth(context, self._respawn),
            respawn_delay_s=self._respawn_delay_s,
            respawn_max_retries=self._respawn_max_retries,
        )
        self._run = ProcessRun(self, context, options)
        if self._on_exit is not None:
            context.register_event_handler(OnProcessExit(target_action=self, on_exit=self._on_exit))
        self._run.begin()

    def _evaluated_cmd(self, context: LaunchContext) -> tuple[str, ...]:
        words = [perform_substitutions(context, word) for word in self._cmd]
        prefix = [] if self._prefix is None else shlex.split(evaluate_text(context, self._prefix))
        return (*prefix, *words)

    def _base_name(self, context: LaunchContext) -> str:
        if self._label is not None:
            return evaluate_text(context, self._label)
        command = perform_substitutions(context, self._cmd[0])
        return os.path.basename(shlex.split(command)[0] if self._shell else command)

    def _evaluated_environment(self, context: LaunchContext) -> dict[str, str]:
        env = dict(context.environment) if self._env is None else _evaluated(context, self._env)
        return env | _evaluated(context, self._additional_env or {})

    def _evaluated_emulate_tty(self, context: LaunchContext) -> bool:
        return _truth(context, context.launch_configurations.get("emulate_tty", self._emulate_tty))

    def _evaluated_output(self, context: LaunchContext) -> str | Mapping[str, Any]:
        overriding = os.environ.get("OVERRIDE_LAUNCH_PROCESS_OUTPUT")
        if overriding is not None:
            return overriding
        return self._output if isinstance(self._output, Mapping) else evaluate_text(context, self._output)

    def _details(self) -> str:
        words = [" + ".join(part.describe() for part in word) for word in self._cmd]
        return f"(cmd=[{', '.join(words)}])"


def _evaluated(context: LaunchContext, environment: Environment) -> dict[str, str]:
    return {evaluate_text(context, key): evaluate_text(context, value) for key, value in environment.items()}


def _truth(context: LaunchContext, value: bool | SomeSubstitutionsType) -> bool:
    if isinstance(value, bool):
        return value
    return evaluate_condition_expression(context, normalize_to_list_of_substitutions(value))


def _seconds(context: LaunchContext, value: float | SomeSubstitutionsType) -> float:
    return float(value) if isinstance(value, int | float) else float(evaluate_text(context, value))
