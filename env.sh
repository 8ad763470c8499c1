# shellcheck shell=bash
# Source this from bash or zsh, in any folder: afterwards python, ros2, kc-vla and the packages are there.
# Sourcing it again changes nothing.

# shellcheck disable=SC2296
_kc_vla_root=$(
  if [ -n "${ZSH_VERSION:-}" ]; then script=$(eval 'printf %s "${(%):-%x}"'); else script=${BASH_SOURCE[0]}; fi
  CDPATH='' cd -- "$(dirname -- "$script")" && pwd -P
)

_kc_vla_environment() {
  local root=$1 venv=$1/.venv shell=bash ros
  [ -z "${ZSH_VERSION:-}" ] || shell=zsh
  if [ ! -f "$venv/kc_vla_stamp" ] || [ ! -f "$root/install/local_setup.$shell" ]; then
    echo "env.sh: kc_vla is not set up in $root: run ./setup.sh first" >&2
    return 1
  fi
  if [ "$(sed -n 's/^root=//p' "$venv/kc_vla_stamp")" != "$root" ]; then
    echo "env.sh: kc_vla was set up in another place than $root: run ./setup.sh again" >&2
    return 1
  fi
  ros=$(sed -n 's/^ros=//p' "$venv/kc_vla_stamp")
  if [ "$ros" = wheels ] && [ -n "${ROS_DISTRO:-}" ]; then
    echo "env.sh: ROS 2 $ROS_DISTRO is sourced in this shell, kc_vla has its own: open a shell without it" >&2
    return 1
  fi

  # The ROS wheels' start-up hook exports these two. Inherited from another environment's Python they would make
  # this one load that one's libraries; the hook sets them anew.
  if [ -n "${_ROS_WHEELS_BOOTSTRAP_COMPLETE:-}" ]; then
    unset LD_LIBRARY_PATH _ROS_WHEELS_BOOTSTRAP_COMPLETE
  fi

  if [ "$ros" = wheels ]; then
    export RMW_IMPLEMENTATION=rmw_fastrtps_cpp
    case ":${AMENT_PREFIX_PATH:-}:" in
      *":$venv:"*) ;;
      *) export AMENT_PREFIX_PATH="$venv${AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}" ;;
    esac
  else
    # shellcheck disable=SC1090
    . "$ros/setup.$shell"
    export RMW_IMPLEMENTATION="${RMW_IMPLEMENTATION:-rmw_fastrtps_cpp}"
  fi
  case ":$PATH:" in
    *":$venv/bin:"*) ;;
    *) export PATH="$venv/bin:$PATH" ;;
  esac
  export VIRTUAL_ENV="$venv"
  # shellcheck disable=SC1090
  . "$root/install/local_setup.$shell"
  # colcon leaves an empty entry at the end, which means the current folder.
  export LD_LIBRARY_PATH="${LD_LIBRARY_PATH%:}"

  # Images cross processes in shared memory; Fast DDS's own defaults lose most of them.
  export FASTRTPS_DEFAULT_PROFILES_FILE="${FASTRTPS_DEFAULT_PROFILES_FILE:-$root/launch/params/fastdds.xml}"
  # Without these, glibc returns an image's memory to the system with every message and asks for it again.
  export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-33554432}"
  export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-268435456}"
  export ROS_AUTOMATIC_DISCOVERY_RANGE="${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}"
  # ONNX Runtime sends events to its maker otherwise.
  export ORT_DISABLE_TELEMETRY="${ORT_DISABLE_TELEMETRY:-1}"
}

_kc_vla_environment "$_kc_vla_root"
_kc_vla_status=$?
unset _kc_vla_root
unset -f _kc_vla_environment
if [ "$_kc_vla_status" -ne 0 ]; then
  unset _kc_vla_status
  return 1
fi
unset _kc_vla_status
