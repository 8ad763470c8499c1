#!/usr/bin/env bash
# sapien beside opencv-python-headless<5: pip puts a second OpenCV over the first, and hand-eye calibration is gone.
#
# Guess:  An installed opencv-python-headless<5 stays, or pip reports a conflict: cv2.calibrateHandEye() still works
#         after the simulator is installed.
# Truth:  sapien requires opencv-python>=4.0, which is another distribution with the same folder cv2. pip installs
#         OpenCV 5 over OpenCV 4, "pip check" finds nothing wrong, and cv2 has no calibrateHandEye() any more. Ask for
#         opencv-python<5 beside sapien.
# Seen:   sapien 3.0.3, opencv-python 5.0.0.93 over opencv-python-headless 4.14.0.94, 2026-11-29.
# Source: Requires-Dist of sapien's wheel; the names in cv2 before and after.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
python="$folder/venv/bin/python"
install=("$python" -m pip install -qq --disable-pip-version-check)
show='import cv2; print("cv2", cv2.__version__, "calibrateHandEye" if hasattr(cv2, "calibrateHandEye") else "without")'
"${install[@]}" opencv-python-headless==4.14.0.94
before=$("$python" -c "$show")
"${install[@]}" --upgrade-strategy only-if-needed sapien==3.0.3 'opencv-python<=5.0.0.93'  # as new as on that day
after=$("$python" -c "$show")
checked=$("$python" -m pip --disable-pip-version-check check)
printf 'before sapien: %s\nafter sapien:  %s\npip check:     %s\n' "$before" "$after" "$checked"
if [[ $before != *" calibrateHandEye" || $after != "cv2 5.0.0 without" || $checked != "No broken requirements found." ]]; then
  echo "CHANGED: sapien asks for another OpenCV, or OpenCV 5 has calibrateHandEye()."
  exit 1
fi
echo "As recorded: OpenCV 5 lies over OpenCV 4, and nothing says so."
