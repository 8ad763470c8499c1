#!/usr/bin/env bash
# mikasa-robo-suite: 31 of the wheel's 129 tasks need a mesh that the wheel does not have.
#
# Guess:  Every task that the installed package registers can be made.
# Truth:  Eight modules build a lamp from objects/low_poly_light_bulb.glb. The wheel has Python files alone, so their
#         tasks are registered and point to a file that is not there. Look for the mesh before you plan with one of
#         these tasks.
# Seen:   mikasa-robo-suite 1.0.0, 2026-11-28 (the files of the wheel are read, nothing of it is run).
# Source: mikasa_robo_suite/vla/utils/shapes.py, build_color_switch_lamp.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" download -qq --no-deps -d "$folder" mikasa-robo-suite==1.0.0
"$folder/venv/bin/python" - "$folder" <<'PROGRAM'
import sys
import zipfile
from pathlib import Path

wheel = next(Path(sys.argv[1]).glob("*.whl"))
with zipfile.ZipFile(wheel) as archive:
    files = {name: archive.read(name) for name in archive.namelist()}
modules = {name: text.decode() for name, text in files.items() if name.endswith(".py")}
named = [name for name, text in modules.items() if "low_poly_light_bulb.glb" in text]
present = [name for name in files if name.endswith("low_poly_light_bulb.glb")]
tasks = {name: text.count("@register_env") for name, text in modules.items()}
lamps = {name: tasks[name] for name, text in modules.items() if "build_color_switch_lamp(" in text and tasks[name]}

print(f"{wheel.name}: {len(files)} files, {sum(tasks.values())} tasks")
print(f"low_poly_light_bulb.glb is named in {named}, the wheel has {present}")
for name, count in lamps.items():
    print(f"{count} tasks in {name}")
print(f"{sum(lamps.values())} tasks in all build the lamp")
if not named or present or sum(lamps.values()) != 31:
    sys.exit("CHANGED: the wheel has the mesh, or another number of tasks needs it.")
print("As recorded: the mesh of 31 tasks is not in the wheel.")
PROGRAM
