# shellcheck shell=bash
# The Python environment and the build: .venv from the lock files, build/ and install/ by colcon.

STAMP=$VENV/kc_vla_stamp
CHOICES=$ROOT/.setup_choices
BEFORE=$ROOT/.setup_before
is_put_aside=

remember_choices() { # sets BUILD to gpu or cpu, and PYTHON: what is not asked for stays what was asked for last
  if [[ -z $BUILD ]]; then
    BUILD=cpu
    if [[ -f $CHOICES ]]; then
      BUILD=$(sed -n 's/^build=//p' "$CHOICES")
    elif grep -q '^gpu=' "$STAMP" 2>/dev/null; then
      BUILD=gpu
    fi
  fi
  # An installed ROS 2 has a Python of its own.
  if [[ -z ${PYTHON:-} && -z $ROS_PREFIX && -f $CHOICES ]]; then
    PYTHON=$(sed -n 's/^python=//p' "$CHOICES")
    [[ -z $PYTHON || -x $PYTHON ]] || PYTHON=
  fi
}

note_choices() {
  printf 'build=%s\n' "$BUILD" >"$CHOICES"
  [[ -z ${PYTHON:-} ]] || printf 'python=%s\n' "$PYTHON_FOUND" >>"$CHOICES"
}

environment_stamp() { # what the environment depends on; a change of any line makes it anew
  find_python
  echo "root=$ROOT" # an environment and a build know where they are
  echo "ros=${ROS_PREFIX:-wheels}"
  echo "python=$PYTHON_FOUND $("$PYTHON_FOUND" -c 'import platform; print(platform.python_version())')"
  echo "lock=$(cat requirements/{lock.txt,lock-ros.txt,torch.in} setup/patch_cmake_exports.py | sha256sum | cut -c1-16)"
  [[ $BUILD != gpu ]] || echo "gpu=$(sha256sum <requirements/lock-gpu.txt | cut -c1-16)"
}

environment_is_current() {
  [[ -f $STAMP && $(<"$STAMP") == "$(environment_stamp)" ]]
}

in_environment() { # in_environment COMMAND... : with the environment's programs first, as env.sh will have it
  local prefixes=$VENV
  (
    if [[ -n $ROS_PREFIX ]]; then
      set +u
      # shellcheck disable=SC1091
      source "$ROS_PREFIX/setup.bash"
      set -u
      prefixes=$AMENT_PREFIX_PATH
    fi
    PATH=$VENV/bin:$PATH AMENT_PREFIX_PATH=$prefixes "$@"
  )
}

make_environment() {
  environment_is_current && return
  local -a options=(--clear)
  [[ -z $ROS_PREFIX ]] || options+=(--system-site-packages)
  put_aside
  run "$PYTHON_FOUND" -m venv "${options[@]}" "$VENV"
}

put_aside() { # the build, too, which remembers the paths of the environment it was made with
  local part
  if [[ -f $STAMP && ! -d $BEFORE ]] && ! mountpoint --quiet "$VENV"; then
    run mkdir "$BEFORE"
    for part in "$VENV" build install; do
      [[ ! -e $part ]] || run mv "$part" "$BEFORE"
    done
  fi
  [[ ! -d $BEFORE ]] || is_put_aside=yes
  for part in "$VENV" build install; do
    if mountpoint --quiet "$part"; then run find "$part" -mindepth 1 -delete; else run rm -rf "$part"; fi
  done
}

bring_back() { # where the new one could not be made, the one that worked
  [[ -n $is_put_aside ]] || return 0
  is_put_aside=
  rm -rf "$VENV" build install
  mv "$BEFORE"/* "$BEFORE"/.venv "$ROOT"/ 2>>"$LOG" || true
  rmdir "$BEFORE" && printf '      what was installed before is back\n'
}

forget_before() {
  is_put_aside=
  [[ ! -d $BEFORE ]] || run rm -rf "$BEFORE"
}

install_python_packages() {
  environment_is_current && return
  # The locks are complete and hold the hash of every file, so nothing else is looked for or let in.
  pip_install --require-hashes --no-deps --only-binary :all: -r requirements/lock.txt
  if [[ -z $ROS_PREFIX ]]; then
    # empy exists as source only; setuptools is there by now to build it.
    pip_install --require-hashes --no-deps --only-binary :all: --no-binary empy --no-build-isolation \
      -r requirements/lock-ros.txt
    run in_environment python setup/patch_cmake_exports.py
  fi
  if [[ $BUILD == gpu ]]; then
    # Both bring the module onnxruntime: the files of one would be mixed into those of the other.
    run in_environment python -m pip --no-input --disable-pip-version-check uninstall --yes onnxruntime
    pip_install --require-hashes --no-deps --only-binary :all: -r requirements/lock-gpu.txt
  else
    # torch last and without a hash, for the machine chooses its build. What it asks for is there by now, but for the
    # companions of a CUDA build, which its own metadata brings.
    pip_install --only-binary :all: -r requirements/torch.in
  fi
  environment_stamp >"$STAMP"
  forget_before # the build, which is made anew, wants no network
}

pip_install() {
  local -a from=()
  [[ -z $WHEELS ]] || from=(--no-index --find-links "$WHEELS")
  run in_environment python -m pip --no-input --disable-pip-version-check install "${from[@]}" "$@"
}

require_wheels() {
  [[ -z $WHEELS || -n $(find "$WHEELS" -maxdepth 1 -name '*.whl' -print -quit 2>/dev/null) ]] ||
    fail "no wheels in $WHEELS: fill it with ./setup.sh --save-wheels $WHEELS on a machine like this one, with a network"
}

save_wheels() { # the same files that install_python_packages takes, by the same locks
  local scratch
  start_log
  STEPS=1
  step "Python packages"
  require_python
  run mkdir -p "$WHEELS"
  scratch=$(mktemp --directory)
  run "$PYTHON_FOUND" -m venv "$scratch"
  download=("$scratch/bin/python" -m pip --no-input --disable-pip-version-check download --dest "$WHEELS")
  run "${download[@]}" --require-hashes --no-deps --only-binary :all: -r requirements/lock.txt
  if [[ -z $ROS_PREFIX ]]; then
    # A source's own set-up is asked for its name, by what is in that environment.
    run "$scratch/bin/python" -m pip --no-input --disable-pip-version-check install --upgrade --no-index --find-links "$WHEELS" setuptools
    run "${download[@]}" --require-hashes --no-deps --only-binary :all: --no-binary empy --no-build-isolation \
      -r requirements/lock-ros.txt
  fi
  if [[ $BUILD == gpu ]]; then
    run "${download[@]}" --require-hashes --no-deps --only-binary :all: -r requirements/lock-gpu.txt
  else
    run "${download[@]}" --only-binary :all: --find-links "$WHEELS" --constraint <(sed 's/ .*//' requirements/lock.txt | grep ==) \
      -r requirements/torch.in
  fi
  run rm -rf "$scratch"
  finish_steps
  printf '\n%s: for this system and this Python. Where there is no network: ./setup.sh --no-system --wheels %s\n' "$WHEELS" "$WHEELS"
}

build_packages() {
  forget_removed_interfaces
  local -a folders=(ros2_ws/src sim_bridge)
  local python_only=OFF
  if [[ -z $ROS_PREFIX ]]; then
    # What an installed ROS 2 has and its wheels have not; beside the distribution's own it would be found first.
    folders+=(ros2_ws/interfaces)
    # Nobody builds C++ nodes against the wheels, and C++ is the larger half of the build.
    python_only=ON
  fi
  run in_environment python -m colcon --log-base log/colcon build --symlink-install \
    --base-paths "${folders[@]}" --event-handlers console_direct+ \
    --cmake-args -DBUILD_TESTING=OFF -DPYTHON_ONLY="$python_only" -DPython3_EXECUTABLE="$VENV/bin/python"
}

# CMake leaves the libraries of an interface that is no more, and Python then loads none of the package.
forget_removed_interfaces() {
  local installed=install/kc_vla_msgs/share/kc_vla_msgs file
  for file in "$installed"/{msg/*.msg,srv/*.srv,action/*.action}; do
    if [[ (-e $file || -L $file) && ! -e ros2_ws/src/kc_vla_msgs/${file#"$installed/"} ]]; then
      run rm -rf build/kc_vla_msgs install/kc_vla_msgs
      return
    fi
  done
}

install_commands() {
  if [[ -z $ROS_PREFIX ]]; then
    pip_install --no-deps --no-build-isolation --editable ros2_ws/standalone
  fi
  # colcon puts a package's scripts where ros2 run looks; this one is for people.
  run ln -sfn "$ROOT/install/kc_vla/lib/kc_vla/kc-vla" "$VENV/bin/kc-vla"
}

try_environment() {
  run bash -c 'source env.sh && python -c "import rclpy, cv2, torch, sapien, mani_skill; from kc_vla_msgs.msg import Keyframe; Keyframe()" && command -v ros2 && kc-vla --help'
}
