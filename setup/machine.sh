# shellcheck shell=bash
# Questions about the machine: which system, which Python, which ROS 2, how much disk. Nothing here changes anything.

NEEDED_DISK_GB=6
NEEDED_DISK_FOR_GPU_GB=16
ROS_PREFIX=
PYTHON_FOUND=

leave_other_environments() {
  # The ROS wheels' start-up hook exports these two; from another environment they would load its libraries here.
  if [[ -n ${_ROS_WHEELS_BOOTSTRAP_COMPLETE:-} ]]; then
    unset LD_LIBRARY_PATH _ROS_WHEELS_BOOTSTRAP_COMPLETE
  fi
  unset PYTHONPATH PYTHONHOME VIRTUAL_ENV COLCON_PREFIX_PATH CMAKE_PREFIX_PATH
}

find_ros() { # sets ROS_PREFIX to the ROS 2 Jazzy installation, or leaves it empty
  local prefix
  local -a prefixes=("${KC_VLA_ROS_PREFIX:-/opt/ros/jazzy}")
  if [[ ${ROS_DISTRO:-} == jazzy ]]; then
    IFS=: read -ra sourced <<<"${AMENT_PREFIX_PATH:-}"
    prefixes=("${sourced[@]}" "${prefixes[@]}")
  fi
  for prefix in "${prefixes[@]}"; do
    if [[ -f $prefix/setup.bash && -x $prefix/bin/ros2 ]]; then
      ROS_PREFIX=$prefix
      return
    fi
  done
}

system_name() { # e.g. "debian 12"
  local release=${KC_VLA_OS_RELEASE:-/etc/os-release}
  # shellcheck disable=SC1090
  (. "$release" 2>/dev/null && echo "${ID:-unknown} ${VERSION_ID:-}") || echo "unknown"
}

system_is_supported() {
  [[ $(system_name) == "debian 12" || $(system_name) == "ubuntu 24.04" ]]
}

require_supported_machine() {
  local machine
  machine=$(uname -m)
  # The simulator's sapien and mplib, and ROS 2's wheels.
  [[ $machine == x86_64 ]] || fail "some of the packages exist for x86_64 alone, this is $machine: take another machine"
  # The first line of a program, which names its Python, cannot have any.
  [[ $ROOT != *[[:space:]]* ]] || fail "there is a blank in the path '$ROOT': move the clone to where there is none"
  system_is_supported || warn "tested on Debian 12 and Ubuntu 24.04, this is $(system_name)"
}

python_version() { # python_version COMMAND : e.g. 3.11, or nothing
  "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true
}

find_python() { # sets PYTHON_FOUND to a Python 3.11 or 3.12 that is no virtual environment's, or leaves it empty
  local candidate version
  local -a candidates=(python3 python3.12 python3.11)
  # The client library of an installed ROS 2 is built for the system's Python.
  [[ -z $ROS_PREFIX ]] || candidates=(/usr/bin/python3)
  [[ -z ${PYTHON:-} ]] || candidates=("$PYTHON")
  for candidate in "${candidates[@]}"; do
    version=$(python_version "$candidate")
    if [[ $version == 3.11 || $version == 3.12 ]]; then
      PYTHON_FOUND=$("$candidate" -c 'import os, sys; print(os.path.realpath(sys._base_executable))')
      return
    fi
  done
}

python_problem() { # one line that says what is wrong with the Python, or nothing
  find_python
  if [[ -z $PYTHON_FOUND ]]; then
    local tried=${PYTHON:-python3}
    local version
    version=$(python_version "$tried")
    echo "Python 3.11 or 3.12 is needed, $tried is ${version:-not there}: install one and name it, PYTHON=python3.12 ./setup.sh"
  elif ! "$PYTHON_FOUND" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "$PYTHON_FOUND cannot make virtual environments: install python3-venv"
  elif ! "$PYTHON_FOUND" -c 'import pathlib, sysconfig as s; assert pathlib.Path(s.get_path("include"), "Python.h").is_file()' 2>/dev/null; then
    echo "$PYTHON_FOUND has no headers: install python3-dev"
  fi
}

require_python() {
  local problem
  problem=$(python_problem)
  [[ -z $problem ]] || fail "$problem"
  find_python
}

free_disk_gb() {
  df --output=avail --block-size=1G "$ROOT" | tail -n 1 | tr -d ' '
}

needed_disk_gb() {
  if [[ $BUILD == gpu ]]; then echo "$NEEDED_DISK_FOR_GPU_GB"; else echo "$NEEDED_DISK_GB"; fi
}

warn_of_no_gpu() { # the builds for a GPU run on the processor, too, so it is no failure
  [[ $BUILD == gpu ]] || return 0
  nvidia-smi >/dev/null 2>&1 || warn "--gpu, but no driver of NVIDIA's answers (nvidia-smi): all will run on the processor"
}

require_disk() {
  environment_is_current && return
  local free needed
  free=$(free_disk_gb)
  needed=$(needed_disk_gb)
  ((free >= needed)) || fail "not enough disk: $free GB free at $ROOT, $needed GB needed"
}
