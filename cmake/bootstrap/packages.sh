# shellcheck shell=bash disable=SC2154
# Debian packages: which are needed, which are missing, and how they get installed.
# Sourced by bootstrap.sh.

build_packages=(
  g++ cmake ninja-build pkg-config nlohmann-json3-dev rapidjson-dev libcli11-dev libsqlite3-dev libicu-dev libssl-dev
  zlib1g-dev libzstd-dev libspdlog-dev libfmt-dev libcurl4-openssl-dev libsentencepiece-dev libyaml-cpp-dev
  libexpat1-dev
)
# ccache makes a second build of another clone fast; git names the commit in what the build reports.
comfort_packages=(ca-certificates ccache git)
wheel_packages=(pybind11-dev python3-dev python3-venv)
test_packages=(libgtest-dev libgmock-dev librapidcheck-dev python3-jsonschema)

# packages_for COMMAND: the list, one a line. Python counts as present whoever installed it.
packages_for() {
  printf '%s\n' "${build_packages[@]}"
  if [ "$1" = driver ]; then return; fi
  printf '%s\n' "${comfort_packages[@]}"
  if ! command -v python3 >/dev/null; then printf 'python3\n'; fi
  if ! pip_python >/dev/null; then printf 'python3-pip\n'; fi
  if [ "$1" = wheel ]; then printf '%s\n' "${wheel_packages[@]}"; fi
  if [ "$1" = test ]; then printf '%s\n' "${test_packages[@]}"; fi
}

# pip_python: a Python that has pip.
pip_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import importlib.util as u; exit(u.find_spec("pip") is None)' 2>/dev/null; then
      printf '%s\n' "$python"
      return 0
    fi
  done
  return 1
}

# missing_of PACKAGE…: those that dpkg does not have installed.
missing_of() {
  local known installed
  known=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null) || true  # 1: some unknown
  installed=$(sed -n 's/^installed //p' <<<"$known")
  printf '%s\n' "$@" | grep -vxF "${installed:-none}" || true
}

warn_untested_system() {
  local id="" version=""
  if [ -r /etc/os-release ]; then
    # shellcheck source=/dev/null
    id=$(. /etc/os-release && printf '%s' "${ID:-}")
    # shellcheck source=/dev/null
    version=$(. /etc/os-release && printf '%s' "${VERSION_ID:-}")
  fi
  case "$id $version" in
    "debian 12") ;;
    "debian 13") printf 'bootstrap.sh: on Debian 13 the driver has been tried, all else is untested.\n' >&2 ;;
    *) printf 'bootstrap.sh: made for Debian 12; this is %s %s: untested.\n' "${id:-unknown}" "$version" >&2 ;;
  esac
}

# ensure_packages COMMAND: one step; installs what is missing, or says what to install and how.
ensure_packages() {
  begin_step "Debian packages"
  if [ -n "${QFS_SKIP_PACKAGES:-}" ] || ! command -v dpkg-query >/dev/null; then
    end_step "not checked"
    return
  fi
  local wanted missing
  mapfile -t wanted < <(packages_for "$1")
  mapfile -t missing < <(missing_of "${wanted[@]}")
  if [ ${#missing[@]} -eq 0 ]; then
    end_step "present"
    return
  fi
  local install=(apt-get install -y --no-install-recommends "${missing[@]}") admin=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || { ! sudo -n true 2>/dev/null && [ ! -t 0 ]; }; then
      fail "these packages are missing, and this is neither root nor has sudo:" "${missing[*]}" \
        "As root: ${install[*]}" \
        "With the libraries elsewhere (CMAKE_PREFIX_PATH): QFS_SKIP_PACKAGES=1 ./bootstrap.sh $1"
    fi
    admin=(sudo)
  fi
  extend_step "installing ${#missing[@]}"
  admin+=(env DEBIAN_FRONTEND=noninteractive)
  local apt_log="$log_folder/packages.log" wait_for_lock=(-o DPkg::Lock::Timeout=300)
  "${admin[@]}" apt-get "${wait_for_lock[@]}" update >"$apt_log" 2>&1 </dev/null ||
    apt_failed "$apt_log" "apt-get update"
  "${admin[@]}" "${install[0]}" "${wait_for_lock[@]}" "${install[@]:1}" >>"$apt_log" 2>&1 </dev/null ||
    apt_failed "$apt_log" "${install[*]}"
  end_step "done"
}

apt_failed() {
  show_log_end "$1" 15
  fail "'$2' failed; the whole log is $1"
}
