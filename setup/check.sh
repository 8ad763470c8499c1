# shellcheck shell=bash
# ./setup.sh --check: a line for each thing that must be there.

missing_count=0

item() { # item NAME PROBLEM [DETAIL] : no problem means it is there
  if [[ -z $2 ]]; then
    printf 'ok       %-22s %s\n' "$1" "${3:-}"
  else
    printf 'missing  %-22s %s\n' "$1" "$2"
    missing_count=$((missing_count + 1))
  fi
}

check_everything() {
  check_machine
  check_system_packages
  check_environment
  if ((missing_count > 0)); then
    printf '\n%d missing: run ./setup.sh\n' "$missing_count"
    exit 1
  fi
  printf '\nall there: source env.sh\n'
}

check_machine() {
  local name free
  name=$(system_name)
  if system_is_supported; then item "system" "" "$name"; else item "system" "" "$name (not tested: Debian 12 and Ubuntu 24.04 are)"; fi
  free=$(free_disk_gb)
  if environment_is_current || ((free >= $(needed_disk_gb))); then
    item "disk" "" "$free GB free"
  else
    item "disk" "$free GB free, $(needed_disk_gb) GB needed: free some space"
  fi
  find_python
  item "Python" "$(python_problem)" "$PYTHON_FOUND"
  item "ROS 2" "" "${ROS_PREFIX:-from wheels (no Jazzy installation found)}"
}

check_system_packages() {
  local package device
  local -A missing=()
  while read -r package; do missing[$package]=1; done < <(missing_system_packages)
  for package in $(printf '%s\n' "${!SYSTEM_NEEDS[@]}" | sort); do
    item "$package" "${missing[$package]:+apt-get install $package}"
    unset "missing[$package]"
  done
  for package in "${!missing[@]}"; do
    item "$package" "apt-get install $package"
  done
  if device=$(vulkan_device); then item "Vulkan" "" "$device"; else item "Vulkan" "$device"; fi
}

check_environment() {
  local package
  local -a packages=(kc_vla_msgs kc_vla kc_vla_sim)
  [[ -n $ROS_PREFIX ]] || packages+=(control_msgs tf2_msgs vision_msgs)
  if environment_is_current; then
    item "Python packages" "" "$VENV, as locked, $BUILD"
  elif [[ -f $STAMP ]]; then
    item "Python packages" "made for another place, lock, Python or ROS 2: run ./setup.sh"
  else
    item "Python packages" "run ./setup.sh"
  fi
  for package in "${packages[@]}"; do
    if [[ -d install/$package/share/$package ]]; then item "$package" ""; else item "$package" "not built: run ./setup.sh"; fi
  done
  if [[ -x $VENV/bin/ros2 || -x $ROS_PREFIX/bin/ros2 ]]; then item "ros2" ""; else item "ros2" "run ./setup.sh"; fi
}
