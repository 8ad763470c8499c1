# shellcheck shell=bash
# The few packages that come from the system: compilers for the interfaces, software Vulkan for the simulator.

# package -> how to see that it is there; a machine that has them in another way needs no apt.
declare -A SYSTEM_NEEDS=(
  [cmake]="command -v cmake"
  [g++]="command -v g++"
  [make]="command -v make"
  [libx11-6]="has_library libX11.so.6"
  [libvulkan1]="has_library libvulkan.so.1"
)

# What the stack uses of an installed ROS 2, by ROS package name: what the packages depend on, verbs of ros2, middleware.
ROS_NEEDS=(action_msgs ament_cmake ament_index_python builtin_interfaces control_msgs diagnostic_msgs domain_coordinator
  geometry_msgs launch launch_ros nav_msgs rcl_interfaces rclpy rmw_fastrtps_cpp ros2action ros2bag ros2launch ros2param
  ros2run ros2service ros2topic rosgraph_msgs rosidl_default_generators rosidl_default_runtime sensor_msgs std_msgs
  std_srvs tf2_msgs trajectory_msgs vision_msgs visualization_msgs)

has_library() { # has_library NAME : by the loader's own search
  # not grep -q: it ends early, ldconfig then dies of the broken pipe, and pipefail takes that for a "no"
  /sbin/ldconfig -p | grep "^[[:space:]]*$1 " >/dev/null
}

missing_system_packages() { # names, one a line
  local package
  for package in "${!SYSTEM_NEEDS[@]}"; do
    eval "${SYSTEM_NEEDS[$package]}" >/dev/null 2>&1 || echo "$package"
  done | sort
  if [[ -z ${PYTHON:-} && -n $(python_problem) ]]; then
    printf '%s\n' python3-dev python3-venv
  fi
  if [[ -n $ROS_PREFIX ]]; then
    for package in "${ROS_NEEDS[@]}"; do
      [[ -d $ROS_PREFIX/share/$package ]] || echo "ros-jazzy-${package//_/-}"
    done
    [[ -x /usr/bin/colcon ]] || echo python3-colcon-common-extensions
  fi
}

vulkan_device() { # prints the device, or the reason why there is none
  local python=${PYTHON_FOUND:-python3}
  command -v "$python" >/dev/null || { echo "a Python is needed to ask for it" && return 1; }
  "$python" "$ROOT/setup/probe_vulkan.py"
}

as_root() {
  if ((EUID_NOW == 0)); then "$@"; else sudo --non-interactive "$@"; fi
}

require_root() { # require_root WHAT : sudo may ask for a password here, once
  EUID_NOW=$(id -u)
  ((EUID_NOW != 0)) || return 0
  command -v sudo >/dev/null || fail "not root and no sudo, to install $1: install it as root, then run ./setup.sh --no-system"
  sudo --validate || fail "sudo was refused, to install $1: install it as root, then run ./setup.sh --no-system"
}

apt_get() {
  run as_root env DEBIAN_FRONTEND=noninteractive apt-get --quiet --assume-yes "$@"
}

install_system_packages() {
  local -a missing
  mapfile -t missing < <(missing_system_packages)
  local vulkan=yes
  vulkan_device >>"$LOG" 2>&1 || vulkan=no
  if ((${#missing[@]} == 0)) && [[ $vulkan == yes ]]; then
    return
  fi
  [[ $vulkan == yes ]] || missing+=(mesa-vulkan-drivers)
  [[ $USE_APT == yes ]] || fail "missing system packages: ${missing[*]}; install them, or run ./setup.sh without --no-system"
  command -v apt-get >/dev/null || fail "missing and no apt here: ${missing[*]}; install them, then run ./setup.sh --no-system"
  require_root "${missing[*]}"
  apt_get update
  apt_get install --no-install-recommends "${missing[@]}"
  vulkan_device >>"$LOG" 2>&1 || install_newer_mesa
}

install_newer_mesa() { # Debian 12's own Mesa is too old for the simulator; its backports have a newer one
  local reason codename source
  local file=/etc/apt/sources.list.d/kc-vla-backports.sources
  [[ $(system_name) == "debian 12" ]] || fail "no usable Vulkan: $(vulkan_device || true); install a driver for your GPU, or Mesa 23.1 or newer"
  codename=bookworm
  source=$(python3 "$ROOT/setup/apt_backports.py" "$codename" 2>&1) || fail "$source"
  if [[ -n $source ]]; then
    as_root tee "$file" <<<"$source" >>"$LOG"
    apt_get update
  fi
  apt_get install --no-install-recommends --target-release "$codename-backports" mesa-vulkan-drivers
  reason=$(vulkan_device) || fail "no usable Vulkan: $reason; install a driver for your GPU, or Mesa 23.1 or newer"
}
