# Messages, progress and errors of the scripts in this folder. Source this file. Do not run it.
# shellcheck shell=bash

# Sets the color variables to escape sequences if the descriptor is a terminal with colors. Otherwise sets them to empty
# strings (https://no-color.org).
set_colors() { # FILE-DESCRIPTOR
  if [ -t "$1" ] && [ -z "${NO_COLOR-}" ] && [ "${TERM-dumb}" != dumb ]; then
    bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m' erase=$'\r\e[K'
  else
    # shellcheck disable=SC2034  # used by the scripts that source this file
    bold='' dim='' red='' green='' plain='' erase=''
  fi
}
set_colors 2

print_line() { printf '%s\n' "$*" >&2; }
fail() {
  printf '%s%s: %s%s\n' "$red" "${0##*/}" "$*" "$plain" >&2
  exit 1
}
usage_error() {
  printf '%s%s: %s%s\n' "$red" "${0##*/}" "$*" "$plain" >&2
  exit 2
}
# Checks that an option is followed by its values.
require_values() { # COUNT OPTION [VALUE]...
  [ $# -ge $(($1 + 2)) ] || usage_error "option $2 needs $1 value$([ "$1" = 1 ] || echo s)"
}

# Runs a long command with its output in a log file, and shows its progress: the seconds and the
# last progress mark, such as [12/80]. A terminal shows one line, which changes. Elsewhere the
# function prints a line after 10 s, and then every 30 s. Prints the end of the log if the command
# fails. A signal that ends the script first ends the command and its children.
step() { # LABEL LOG-FILE COMMAND...
  local label=$1 log=$2 started=$SECONDS status=0 shown=10 seconds=0 traps command
  shift 2
  mkdir -p "$(dirname "$log")"
  traps=$(trap -p INT TERM HUP)
  set -m # puts the command into its own process group
  "$@" > "$log" 2>&1 < /dev/null &
  command=$!
  set +m
  # shellcheck disable=SC2064  # expand $command now
  trap "kill -TERM -- -$command 2> /dev/null || true; wait $command || true; exit 130" INT
  # shellcheck disable=SC2064
  trap "kill -TERM -- -$command 2> /dev/null || true; wait $command || true; exit 143" TERM HUP
  while kill -0 "$command" 2> /dev/null; do
    seconds=$((SECONDS - started))
    if [ -n "$erase" ]; then
      printf '%s%s … %s%s s %s%s' "$erase" "$label" "$dim" "$seconds" "$(progress_mark "$log")" "$plain" >&2
    elif [ "$seconds" -ge "$shown" ]; then
      shown=$((seconds + 30))
      print_line "$label … $seconds s $(progress_mark "$log")"
    fi
    # Waits one second, or until the command ends.
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
# Prints the last progress mark of a log, or the process id of another build that SwiftPM waits for.
progress_mark() { # LOG-FILE
  tail -c 2000 "$1" | grep -oE '\[[0-9]+/[0-9]+\]|Another instance of SwiftPM \(PID: [0-9]+\)' | tail -n 1 |
    sed -E 's/^Another .*PID: ([0-9]+)\)/(waiting for another build: process \1)/'
}
