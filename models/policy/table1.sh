#!/usr/bin/env bash
# Makes tables 1 and 3, what a memory is worth: data, a network that can move and does without a memory (it begins with the
# weights of the shipped policy), then the rows, which all begin with that. Prints its hours. The same command goes on where
# it was interrupted.
#
#   models/policy/table1.sh [FOLDER for data and runs, default runs/table1] [more words for kc-vla eval table1 and table3]
#
# PLANS (episodes of each task), BLIND and STEPS (of the training without a memory, and of each row's own), VARIANT (of the
# episodes that are learnt from and played; one variant, one folder).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-runs/table1}
shift || true
plans=${PLANS:-60} blind=${BLIND:-1500} steps=${STEPS:-1500} variant=${VARIANT:-standard}

hours() { echo "$1: $(awk "BEGIN { printf \"%.2f\", $SECONDS / 3600 }") h since the start of this command"; }

kc-vla collect --plans --events --variant "$variant" --episodes "$plans" --output "$folder/plans"
drives=(--from-policy --variant "$variant" --events --stretch 100 --skip 400 --output "$folder/taught")
kc-vla collect "${drives[@]}" --task spatial --episodes 40 --begin-by 330
kc-vla collect "${drives[@]}" --task temporal --episodes 20 --begin-by 230
hours "data"
learns=(--config models/policy/train.toml --data "$folder/plans/train" --data "$folder/taught/train")
learns+=(--set learning_rate=0.0008 --set every=500)
kc-vla train policy "${learns[@]}" --init policy --set history=none --set "steps=$blind" --output "$folder/blind"
hours "a network without a memory"
for table in table1 table3; do
    kc-vla eval "$table" "${learns[@]}" --init "$folder/blind" --set "steps=$steps" --variant "$variant" --image-size 128 \
        --output "$folder/tables" "$@"
done
hours "tables"
