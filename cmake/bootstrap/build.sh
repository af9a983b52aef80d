# shellcheck shell=bash disable=SC2154
# Configure and build steps. Sourced by bootstrap.sh.

# build_jobs: CMAKE_BUILD_PARALLEL_LEVEL, else one a core, as far as memory goes (1 GB a compiler).
# nproc would count OpenMP's threads where its variables are set, as on shared machines.
build_jobs() {
  local cores
  if [ -n "${CMAKE_BUILD_PARALLEL_LEVEL:-}" ]; then
    printf '%s' "$CMAKE_BUILD_PARALLEL_LEVEL"
    return
  fi
  cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
  awk -v cores="$cores" '/^MemAvailable:/ { fit = int($2 / 1000000); if (fit < 1) fit = 1 }
    END { print (fit && fit < cores) ? fit : cores }' /proc/meminfo
}

# configure PRESET [-DNAME=VALUE…]: one step; skipped when the build folder already has these values
# (ninja itself runs CMake again when a CMake file has changed).
configure() {
  local preset=$1 folder="$root/build/$1" setting pending=0
  shift
  begin_step "configure (preset $preset)"
  [ -f "$folder/build.ninja" ] || pending=1
  for setting in "$@"; do cached_setting "$folder" "$setting" || pending=1; done
  if [ "$pending" -eq 0 ]; then
    end_step "up to date"
    return
  fi
  local log="$log_folder/configure-$preset.log"
  (cd "$root" && cmake --preset "$preset" "$@") >"$log" 2>&1 </dev/null || {
    show_log_end "$log"
    fail "CMake could not configure; the whole log is $log"
  }
  end_step "done"
}

# cached_setting FOLDER -DNAME=VALUE: whether the build folder has this value.
cached_setting() {
  local name=${2#-D} value=${2#*=}
  name=${name%%=*}
  grep -qE "^$name:[A-Z]+=" "$1/CMakeCache.txt" 2>/dev/null &&
    [ "$(sed -n "s/^$name:[A-Z]*=//p" "$1/CMakeCache.txt")" = "$value" ]
}

# build PRESET [TARGET…]: one step; all targets when none is named.
build() {
  local preset=$1 folder="$root/build/$1" log="$log_folder/build-$1.log" targets=()
  shift
  begin_step "build${*:+ $*}"
  if [ $# -gt 0 ]; then targets=(--target "$@"); fi
  logged_build "$log" cmake --build "$folder" --parallel "$(build_jobs)" "${targets[@]}"
  end_step "done"
}

# logged_build LOG COMMAND…: shows the progress of the ninja that the command runs, or the log's end.
logged_build() {
  local log=$1
  shift
  if ! NINJA_STATUS="[%f/%t] " "$@" </dev/null 2>&1 | tee "$log" | show_build_progress; then
    show_log_end "$log" 60
    fail "the build failed; the whole log is $log"
  fi
}

# show_build_progress: reads ninja's "[12/345] …" lines.
show_build_progress() {
  local line
  while IFS= read -r line; do
    if [[ $line =~ ^\ *\[([0-9]+)/([0-9]+)\] ]]; then
      progress "$(percent_of "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}")"
    fi
  done
}
