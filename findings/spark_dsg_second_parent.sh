#!/usr/bin/env bash
# spark_dsg: moving a node to a second room leaves it in both rooms and without a parent.
#
# Guess:  insert_edge() to a second parent is refused (it returns False), or it replaces the first parent.
# Truth:  It returns True, both edges stay, both rooms list the node as their child, and the node's get_parent() is
#         None. Going up from the node finds no room; going down from the rooms finds it twice. The edge replaces the
#         first one with enforce_single_parent=True alone, which is not the default.
# Seen:   spark_dsg 1.1.3, numpy 2.4.6, Python 3.11, 2026-11-29.
# Source: DynamicSceneGraph::insertEdge; SceneGraphNode keeps a set of parents and answers for exactly one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq spark_dsg==1.1.3 numpy==2.4.6
"$folder/venv/bin/python" - <<'PROGRAM'
import sys
from importlib.metadata import version

import spark_dsg

print("spark_dsg", version("spark_dsg"))
layers = spark_dsg.DsgLayers
kitchen, hall, place = (spark_dsg.NodeSymbol(letter, number) for letter, number in (("R", 1), ("R", 2), ("p", 1)))


def move(**options):
    """Move a place from the kitchen to the hall: return what is known of it before and after."""
    graph = spark_dsg.DynamicSceneGraph()
    graph.add_node(layers.ROOMS, kitchen, spark_dsg.RoomNodeAttributes())
    graph.add_node(layers.ROOMS, hall, spark_dsg.RoomNodeAttributes())
    graph.add_node(layers.PLACES, place, spark_dsg.PlaceNodeAttributes())
    rooms = {kitchen.value: "kitchen", hall.value: "hall", None: None}
    graph.insert_edge(kitchen, place)
    before = rooms[graph.get_node(place).get_parent()]
    accepted = graph.insert_edge(hall, place, **options)
    after = rooms[graph.get_node(place).get_parent()]
    children = [len(graph.get_node(room).children()) for room in (kitchen, hall)]
    print(f"insert_edge() to the hall {options or 'by default'} returns {accepted}: the parent was {before} and is "
          f"{after}; children of the kitchen and of the hall: {children}")
    return before, accepted, after, children


if move() != ("kitchen", True, None, [1, 1]):
    sys.exit("CHANGED: a second parent is refused, replaces the first one, or is reported.")
if move(enforce_single_parent=True) != ("kitchen", True, "hall", [0, 1]):
    sys.exit("CHANGED: enforce_single_parent does not replace the first parent.")
print("As recorded: the node is in both rooms and has no parent.")
PROGRAM
