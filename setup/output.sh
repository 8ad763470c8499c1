# shellcheck shell=bash
# What setup.sh says: numbered steps with their time, the log, and one clear line when something fails.

STEPS=7
step_number=0
step_title=
step_start=0
step_log_line=1

fail() { # fail MESSAGE : one line, then the end
  [[ -z $step_title ]] || printf 'failed\n'
  bring_back
  printf 'setup.sh: %s\n' "$1" >&2
  exit 1
}

hear_ctrl_c() {
  exec 7>&1 8>&2 # it may come while what is said goes into the log
  trap interrupted INT
}

interrupted() { # Ctrl-C, also where the command that it stopped says that it failed
  trap - INT
  exec >&7 2>&8
  if [[ -n $step_title ]]; then
    printf 'interrupted\n'
    bring_back
    printf "setup.sh: interrupted in step '%s': run ./setup.sh again, what is done is left alone\n" "$step_title" >&2
  else
    printf '\nsetup.sh: interrupted\n' >&2
  fi
  kill -INT $$
}

start_log() {
  mkdir -p "$(dirname "$LOG")"
  exec 9>"$LOG.lock"
  flock --nonblock 9 || fail "another ./setup.sh is running in this clone: wait for it"
  printf 'setup.sh, %s\n' "$(date --utc +%FT%TZ)" >"$LOG"
}

step() { # step TITLE : ends the step before and starts the next
  finish_steps
  step_number=$((step_number + 1))
  step_title=$1
  step_start=$SECONDS
  step_log_line=$(wc -l <"$LOG")
  printf '== %s\n' "$step_title" >>"$LOG"
  printf '[%d/%d] %-24s ' "$step_number" "$STEPS" "$step_title"
}

finish_steps() {
  [[ -z $step_title ]] || printf 'done, %d s\n' $((SECONDS - step_start))
  step_title=
}

warn() { # warn MESSAGE : a line that does not end the run
  printf '\n      warning: %s\n%33s' "$1" ""
  printf 'warning: %s\n' "$1" >>"$LOG"
}

run() { # run COMMAND... : its output goes into the log; its failure ends the set-up with the likely cause
  printf '+ %s\n' "$*" >>"$LOG"
  "$@" >>"$LOG" 2>&1 </dev/null && return
  printf 'failed\n\nlast lines of %s:\n' "$LOG"
  tail -n +"$step_log_line" "$LOG" | tail -n 15 | sed 's/^/  /'
  local cause
  cause=$(likely_cause)
  step_title=
  fail "$cause"
}

likely_cause() { # one line about the failure, read from the log of this step
  local log
  log=$(tail -n +"$step_log_line" "$LOG")
  if grep -qi 'no space left on device' <<<"$log"; then
    echo "the disk is full: free some space (the environment takes about 6 GB) and run ./setup.sh again"
  elif grep -qiE 'temporary failure (in name resolution|resolving)|could not resolve|name or service not known|network is unreachable|failed to establish a new connection|connection refused|could not connect|connection timed out|proxy error' <<<"$log"; then
    echo "no network: the package servers do not answer; check the connection or proxy and run ./setup.sh again"
  elif grep -qi 'certificate verify failed' <<<"$log"; then
    echo "a package server's certificate is not trusted: behind a proxy with its own, set PIP_CERT to that certificate's file"
  elif grep -qi 'could not get lock' <<<"$log"; then
    echo "another package manager is running: wait for it and run ./setup.sh again"
  else
    echo "step '$step_title' failed: see $LOG"
  fi
}
