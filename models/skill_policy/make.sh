#!/usr/bin/env bash
# Makes the policy of skills from nothing: the motion's episodes, the training, and both ways in the test kitchens.
# The same command goes on where it was interrupted.
#
#   models/skill_policy/make.sh [FOLDER, default runs/make_skill_policy] [more words for kc-vla train policy]
#
# EPISODES (of the motion) and KITCHENS (of the comparison) change how much of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-runs/make_skill_policy}
shift || true
episodes=${EPISODES:-100} kitchens=${KITCHENS:-50}

kc-vla collect --skill CloseObject --camera wrist --episodes "$episodes" --output "$folder/data"
kc-vla train policy --config models/skill_policy/train.toml --data "$folder/data/train" --output "$folder/run" "$@"
kc-vla export policy "$folder/run" --models "$folder/models" --name skill_policy --replace
kc-vla eval skills --skill CloseObject --by motion --by policy --models "$folder/models" --policy skill_policy \
    --split test --kitchens "$kitchens" --output "$folder/skills"
