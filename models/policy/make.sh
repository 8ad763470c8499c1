#!/usr/bin/env bash
# Makes a policy from nothing: the expert's plans, a first policy, then rounds in which the newest one drives and is
# taught. Prints its hours. The same command goes on where it was interrupted.
#
#   models/policy/make.sh [FOLDER for data and runs, default runs/make_policy] [more words for kc-vla train policy]
#
# PLANS, TAUGHT (episodes of each task, in each round), PARTS (stretches of spatial, in each round), ROUNDS, then of the
# rounds of stretches alone, of the two tasks that take longest: LATE (how many), SPATIAL, TEMPORAL (stretches in each)
# and STEPS (of each fifth and of the last) change how much of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-runs/make_policy}
shift || true
plans=${PLANS:-120} taught=${TAUGHT:-10} parts=${PARTS:-40} rounds=${ROUNDS:-3}
late=${LATE:-9} spatial=${SPATIAL:-60} temporal=${TEMPORAL:-30} last=${STEPS:-6000}

hours() { echo "$1: $(awk "BEGIN { printf \"%.2f\", $SECONDS / 3600 }") h since the start of this command"; }

data=(--data "$folder/plans/train")
if [ ! -d "$folder/round0" ]; then # what is missing here is told in the first minutes, and not after the plans
    kc-vla collect --plans --episodes 2 --output "$folder/plans"
    kc-vla train policy "${data[@]}" --output "$folder/trial" "$@" --set steps=1
    rm -r "$folder/trial"
fi
kc-vla collect --plans --episodes "$plans" --output "$folder/plans"
hours "expert's plans"
kc-vla train policy --config models/policy/train.toml "${data[@]}" --output "$folder/round0" "$@"
kc-vla export policy "$folder/round0" --models "$folder/models0" --replace
hours "first policy"
teach() { # ROUND STEPS [more words]
    local round=$1 steps=$2
    shift 2
    kc-vla train policy --config models/policy/train.toml --set "steps=$steps" --set learning_rate=0.0008 "${data[@]}" \
        --init "$folder/round$((round - 1))" --output "$folder/round$round" "$@"
    kc-vla export policy "$folder/round$round" --models "$folder/models$round" --replace
    hours "round $round"
}

for round in $(seq "$rounds"); do
    before=$((round - 1))
    kc-vla collect --from-policy --policy-models "$folder/models$before" --episodes "$taught" \
        --skip $((plans + before * taught)) --output "$folder/taught$round"
    kc-vla collect --from-policy --policy-models "$folder/models$before" --episodes "$parts" --task spatial \
        --stretch 100 --begin-by 330 --skip $((plans + rounds * taught + before * parts)) --output "$folder/parts$round"
    data+=(--data "$folder/taught$round/train" --data "$folder/parts$round/train")
    teach "$round" $((round < rounds ? 1500 : 2500)) "$@"
done
used=$((plans + rounds * taught + rounds * parts))
for number in $(seq "$late"); do
    round=$((rounds + number))
    drives=(--from-policy --policy-models "$folder/models$((round - 1))" --stretch 100 --output "$folder/parts$round")
    kc-vla collect "${drives[@]}" --task spatial --episodes "$spatial" --begin-by 330 \
        --skip $((used + (number - 1) * spatial))
    kc-vla collect "${drives[@]}" --task temporal --episodes "$temporal" --begin-by 230 \
        --skip $((used + (number - 1) * temporal))
    data+=(--data "$folder/parts$round/train")
    teach "$round" $((number < late && number % 5 ? 2000 : last)) "$@"
done
echo "Next: kc-vla eval policy --models $folder/models$((rounds + late))"
