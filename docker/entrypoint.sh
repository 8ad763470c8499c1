#!/usr/bin/env bash
# Runs a command in the environment of the stack.
set -euo pipefail
set +u
# shellcheck source=/dev/null
source /opt/kc_vla/env.sh
set -u
exec "$@"
