#!/usr/bin/env bash
# rclpy: an unrelated -p in front decides which parameter file wins, and whether a later -p counts at all.
#
# Guess:  The last --params-file or -p wins, or a node's full name wins over a wildcard.
# Truth:  Neither. rcl merges all files and -p into one list of keys: arm, /arm and /** are three, and -p is /**. A key
#         keeps the place where it appears first, whatever file its value is in, and the key that comes last in the list
#         wins. So "-p y:=1" in front, which launch_ros writes for SetParameter, puts /** first: each later /** value
#         and each later -p loses to the node's name. Write all files with the key /**.
# Seen:   ros-jazzy-rclpy 7.1.6, ros-rcl 9.2.8, Python 3.11, 2026-11-29.
# Source: rcl/src/rcl/arguments.c; rcl_yaml_param_parser/src/parse.c, find_node; launch_ros/actions/node.py.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset PYTHONPATH LD_LIBRARY_PATH AMENT_PREFIX_PATH RMW_IMPLEMENTATION  # of another ROS installation
export ROS_DOMAIN_ID=119 ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_LOG_DIR=$folder/log
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq "ros-jazzy-rclpy[fastrtps]==7.1.6" ros-rcl==9.2.8 \
  ros-rcl-yaml-param-parser==9.2.8 setuptools==79.0.1 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
import sys
from importlib.metadata import version
from pathlib import Path

import rclpy
from rclpy.node import Node

print(*(f"{name} {version(name)}" for name in ("ros-jazzy-rclpy", "ros-rcl")))
for file, key in (("named.yaml", "arm"), ("any.yaml", "/**")):
    Path(file).write_text(f"{key}:\n  ros__parameters:\n    x: {file}\n")


def value(*arguments):
    """Return the parameter x that a node named arm gets from the arguments."""
    context = rclpy.Context()
    rclpy.init(args=["--ros-args", *arguments], context=context)
    node = Node("arm", context=context)
    answer = node.declare_parameter("x", "default").value
    node.destroy_node()
    rclpy.shutdown(context=context)
    print(f"{' '.join(arguments)}: {answer}")
    return answer


named, wildcard = ("--params-file", "named.yaml"), ("--params-file", "any.yaml")
unrelated, command = ("-p", "y:=1"), ("-p", "x:=command")
seen = [value(*named, *wildcard), value(*unrelated, *named, *wildcard),
        value(*named, *command), value(*unrelated, *named, *command)]
if seen != ["any.yaml", "named.yaml", "command", "named.yaml"]:
    sys.exit("CHANGED: an unrelated -p in front does not decide which value wins.")
print("As recorded: -p y:=1 in front makes later values of /** and of -p lose.")
PROGRAM
