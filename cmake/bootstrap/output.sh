# shellcheck shell=bash
# What bootstrap.sh prints: numbered steps with their time, progress in percent, errors with the log's end.
# Sourced by bootstrap.sh.

step_number=0
step_count=0
step_text=""
step_started=0
progress_shown=0

# plan_steps COUNT: how many steps the command has.
plan_steps() { step_count=$1; }

# begin_step TEXT: prints "[2/6] TEXT …"; the line is finished by end_step or fail.
begin_step() {
  step_number=$((step_number + 1))
  step_text="[$step_number/$step_count] $1"
  step_started=$SECONDS
  progress_shown=0
  printf '%s …' "$step_text"
}

# extend_step TEXT: the step turned out to be longer; says what it does.
extend_step() {
  step_text="$step_text, $1"
  if [ -t 1 ]; then printf '\r%s …\033[K' "$step_text"; else printf ' %s:' "$1"; fi
}

# progress PERCENT: rewrites the step's line on a terminal; elsewhere every tenth is one more word in it.
progress() {
  if [ -t 1 ]; then
    printf '\r%s … %3d %%\033[K' "$step_text" "$1"
  elif [ "$1" -ge $((progress_shown + 10)) ]; then
    progress_shown=$1
    printf ' %d %%' "$1"
  fi
}

# end_step NOTE: finishes the line.
end_step() {
  if [ -t 1 ]; then printf '\r%s … ' "$step_text"; else printf ' '; fi
  printf '%s (%s)' "$1" "$(duration $((SECONDS - step_started)))"
  if [ -t 1 ]; then printf '\033[K'; fi
  printf '\n'
}

duration() {
  if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}

# fail MESSAGE…: ends the program with exit code 5 (environment); one line each.
fail() {
  printf '\n' >&2
  printf 'bootstrap.sh: %s\n' "$1" >&2
  shift
  if [ $# -gt 0 ]; then printf '  %s\n' "$@" >&2; fi
  exit 5
}

# show_log_end FILE: the part of a log that a person needs to see.
show_log_end() {
  printf '\n' >&2
  tail -n "${2:-40}" "$1" | sed 's/^/  | /' >&2
}
