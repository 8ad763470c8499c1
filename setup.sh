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
WHEELS=
PACKAGES_ALONE=

source "$ROOT/setup/output.sh"
source "$ROOT/setup/machine.sh"
source "$ROOT/setup/system_packages.sh"
source "$ROOT/setup/environment.sh"
source "$ROOT/setup/check.sh"

usage() {
  cat <<'HELP'
usage: ./setup.sh [--gpu | --cpu] [--no-system] [--wheels DIR] [--packages] | --save-wheels DIR | --check | --help

Installs the system packages, makes .venv from the lock files and builds the packages. Run it again at any time: what is
there already is left alone. Details of a run are in log/setup.log.

  --check      say what is there and what is missing, change nothing; exit status 0 when all is there
  --no-system  install no system packages (no apt, no sudo)
  --gpu        ONNX Runtime and torch for an NVIDIA GPU, some gigabytes more: docs/installing.md; remembered
  --cpu        ONNX Runtime for the processor again, the default
  --packages   system and Python packages, and no build: what an image needs before the code
  --save-wheels DIR  put every Python package into DIR, for a machine without a network; --gpu: those for a GPU
  --wheels DIR take the Python packages from there, and ask no network for them
  --help       this text

environment:
  PYTHON       the Python to use, 3.11 or 3.12 (default: the first such of python3, python3.12, python3.11); remembered

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
  note_choices
  require_wheels
  require_disk
  warn_of_no_gpu
  make_environment
  step "Python packages"
  install_python_packages
  if [[ $PACKAGES_ALONE == yes ]]; then
    finish_steps
    return
  fi
  step "build"
  build_packages
  step "ros2 command and kc-vla"
  install_commands
  step "trial"
  try_environment
  finish_steps
  printf '\nReady. Next:\n\n  source env.sh && ros2 launch kc_vla maniskill.launch.py task:=counting seed:=3\n'
}

take_folder() { # take_folder OPTION DIR : sets WHEELS to where that is
  [[ -n ${2:-} ]] || fail "$1 needs a folder: see ./setup.sh --help"
  WHEELS=$(realpath --canonicalize-missing -- "$2")
}

main() {
  cd "$ROOT"
  hear_ctrl_c
  leave_other_environments
  find_ros
  local action=set_up
  while (($#)); do
    case $1 in
      --no-system) USE_APT=no ;;
      --gpu) BUILD=gpu ;;
      --cpu) BUILD=cpu ;;
      --packages) PACKAGES_ALONE=yes ;;
      --wheels) take_folder "$@" && shift ;;
      --save-wheels) take_folder "$@" && shift && action=save_wheels ;;
      --check) action=check_everything ;;
      -h | --help) action=usage ;;
      *) fail "unknown option '$1': see ./setup.sh --help" ;;
    esac
    shift
  done
  remember_choices
  "$action"
}

main "$@"
