#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR
# Sets up kc_vla on Debian 12 or Ubuntu 24.04: system packages, Python environment, build. See ./setup.sh --help.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
VENV=$ROOT/.venv
LOG=$ROOT/log/setup.log
USE_APT=yes
BUILD=

source "$ROOT/setup/output.sh"
source "$ROOT/setup/machine.sh"
source "$ROOT/setup/system_packages.sh"
source "$ROOT/setup/environment.sh"
source "$ROOT/setup/check.sh"

usage() {
  cat <<'HELP'
usage: ./setup.sh [--gpu | --cpu] [--no-system] | --check | --help

Installs the system packages, makes .venv from the lock files and builds the packages. Run it again at any time: what is
there already is left alone. Details of a run are in log/setup.log.

  --check      say what is there and what is missing, change nothing; exit status 0 when all is there
  --no-system  install no system packages (no apt, no sudo)
  --gpu        ONNX Runtime and torch for an NVIDIA GPU, some gigabytes more: docs/installing.md; remembered
  --cpu        ONNX Runtime for the processor again, the default
  --help       this text

environment:
  PYTHON       the Python to use, 3.11 or 3.12 (default: the first such of python3, python3.12, python3.11)

Where ROS 2 Jazzy is installed (/opt/ros/jazzy, or sourced in this shell), it is used; otherwise ROS 2's wheels are.
Without --gpu, which build of torch is installed is up to pip's own configuration (pip config, PIP_FIND_LINKS ...).
HELP
}

set_up() {
  start_log
  step "machine"
  require_supported_machine
  step "system packages"
  install_system_packages
  step "Python environment"
  require_python
  require_disk
  warn_of_no_gpu
  make_environment
  step "Python packages"
  install_python_packages
  step "build"
  build_packages
  step "ros2 command and kc-vla"
  install_commands
  step "trial"
  try_environment
  finish_steps
  printf '\nReady. Next:\n\n  source env.sh && ros2 launch kc_vla maniskill.launch.py task:=counting seed:=3\n'
}

main() {
  cd "$ROOT"
  leave_other_environments
  find_ros
  local action=set_up option
  for option in "$@"; do
    case $option in
      --no-system) USE_APT=no ;;
      --gpu) BUILD=gpu ;;
      --cpu) BUILD=cpu ;;
      --check) action=check_everything ;;
      -h | --help) action=usage ;;
      *) fail "unknown option '$option': see ./setup.sh --help" ;;
    esac
  done
  remember_build
  "$action"
}

main "$@"
