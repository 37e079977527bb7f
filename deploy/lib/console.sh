# What the scripts of this folder say and how: sourced by them, not run.
# shellcheck shell=bash

# Colours only where somebody looks at them (https://no-color.org).
colour() { # FILE-DESCRIPTOR
  if [ -t "$1" ] && [ -z "${NO_COLOR-}" ] && [ "${TERM-dumb}" != dumb ]; then
    bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m' erase=$'\r\e[K'
  else
    # shellcheck disable=SC2034  # used by those who source this file
    bold='' dim='' red='' green='' plain='' erase=''
  fi
}
colour 2

say() { printf '%s\n' "$*" >&2; }
fail() {
  printf '%s%s: %s%s\n' "$red" "${0##*/}" "$*" "$plain" >&2
  exit 1
}

# Runs a long command whose output goes to a file, and shows that it moves: on a terminal one line with the seconds and
# the last progress mark such as [12/80]; elsewhere one line now and then. What went wrong is shown from the file.
# A signal that ends the script ends the command and all that it started first.
step() { # LABEL LOG-FILE COMMAND...
  local label=$1 log=$2 started=$SECONDS status=0 shown=10 seconds=0 traps command
  shift 2
  mkdir -p "$(dirname "$log")"
  traps=$(trap -p INT TERM HUP)
  set -m # a process group of its own
  "$@" > "$log" 2>&1 < /dev/null &
  command=$!
  set +m
  # shellcheck disable=SC2064  # the values of now are meant
  trap "kill -TERM -- -$command 2> /dev/null; wait $command; exit 130" INT TERM HUP
  while kill -0 "$command" 2> /dev/null; do
    seconds=$((SECONDS - started))
    if [ -n "$erase" ]; then
      printf '%s%s … %s%s s %s%s' "$erase" "$label" "$dim" "$seconds" "$(progress_mark "$log")" "$plain" >&2
    elif [ "$seconds" -ge "$shown" ]; then
      shown=$((seconds + 30))
      say "$label … $seconds s $(progress_mark "$log")"
    fi
    # A second's pause, ended early when the command ends.
    sleep 1 &
    wait -n "$command" $! 2> /dev/null || true
    kill $! 2> /dev/null || true
  done
  wait "$command" || status=$?
  trap - INT TERM HUP
  eval "$traps"
  seconds=$((SECONDS - started))
  if [ "$status" = 0 ]; then
    printf '%s%s %s✓ %s s%s\n' "$erase" "$label" "$green" "$seconds" "$plain" >&2
  else
    printf '%s%s %s✗ failed after %s s (exit status %s)%s; from %s:\n' \
      "$erase" "$label" "$red" "$seconds" "$status" "$plain" "$log" >&2
    {
      if grep -h 'error: ' "$log" | sort -u | head -n 20 | grep .; then echo …; fi
      tail -n 20 "$log"
    } | sed 's/^/    /' >&2
  fi
  return "$status"
}
# How far it is by its log, or that it waits until another build of the same folder is done.
progress_mark() {
  tail -c 2000 "$1" | grep -oE '\[[0-9]+/[0-9]+\]|Another instance of SwiftPM \(PID: [0-9]+\)' | tail -n 1 |
    sed -E 's/^Another .*PID: ([0-9]+)\)/(waits for another build: process \1)/'
}
