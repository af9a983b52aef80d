#!/usr/bin/env bash
# Sets up qfs-bench on a bare Debian 12 machine and runs it: see usage() below.
# Idempotent: what is there is not fetched, installed or built again. Its parts are in cmake/bootstrap.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Where the steps' output goes.
log_folder="$root/build/bootstrap-logs"

# shellcheck source=cmake/bootstrap/output.sh
. "$root/cmake/bootstrap/output.sh"
# shellcheck source=cmake/bootstrap/packages.sh
. "$root/cmake/bootstrap/packages.sh"
# shellcheck source=cmake/bootstrap/fetch.sh
. "$root/cmake/bootstrap/fetch.sh"
# shellcheck source=cmake/bootstrap/libtorch.sh
. "$root/cmake/bootstrap/libtorch.sh"
# shellcheck source=cmake/bootstrap/nvcc.sh
. "$root/cmake/bootstrap/nvcc.sh"
# shellcheck source=cmake/bootstrap/model.sh
. "$root/cmake/bootstrap/model.sh"
# shellcheck source=cmake/bootstrap/language_data.sh
. "$root/cmake/bootstrap/language_data.sh"
# shellcheck source=cmake/bootstrap/build.sh
. "$root/cmake/bootstrap/build.sh"

usage() {
  cat <<'HELP'
Usage: ./bootstrap.sh COMMAND [ARGUMENTS]

  sweep [OPTION…]  set up everything, then run: qfs-bench sweep experiments/lc_sweep.json OPTION…
  test             set up everything, build the tests and run them (no GPU needed)
  driver           build qfs-bench alone, without LibTorch (needs no root where compiler and libraries are)
  wheel            build the Python package and the driver as one wheel, and test it in an empty environment
  model            fetch the default model, SmolLM2-135M-Instruct, and print where it is
  punkt            fetch Punkt's English sentence data, for metrics with split=punkt, and print where they are
  minilm           fetch all-MiniLM-L6-v2, BERTScore's default encoder, and print where it is
  jieba            fetch jieba 0.42.1's dictionary and tables, for segmenter=jieba, and print where they are
  torch            find or fetch LibTorch 2.11 and print where it is
  nvcc             fetch CUDA's compiler, for the preset cuda without an installed toolkit, and print where it is
  packages         install the Debian packages of a build with tests
  help             this text

For example: ./bootstrap.sh sweep --limit 2
Debian 12, as root or with sudo; the driver on Debian 13 as well. Other systems are untested.

Environment:
  QFS_CACHE_DIR     downloads that clones share (default: $XDG_CACHE_HOME/qfs-bench, ~/.cache/qfs-bench)
  QFS_MODELS_DIR    model files (default: models in the cache)
  QFS_TORCH_DIR     an unpacked LibTorch 2.11 or a site-packages/torch, instead of fetching one
  QFS_TORCH_KIND    cpu or cuda: what to fetch (default: cuda where there is an NVIDIA driver)
  QFS_SKIP_PACKAGES set to leave Debian packages alone
  CMAKE_BUILD_PARALLEL_LEVEL   compilers at a time (default: one a core, as far as memory goes)
HELP
}

start() {
  plan_steps "$1"
  warn_untested_system
  mkdir -p "$log_folder"
}

# The build folder is the same for sweep and test, so neither builds what the other has built; QFS_TESTS
# only adds targets and stays on once it is.
set_up_release() {
  local tests=()
  if [ "$1" = test ]; then
    tests=(-DQFS_TESTS=ON)
    # The distribution's Python has the modules that the packages step installs.
    if [ -x /usr/bin/python3 ]; then tests+=(-DPython3_EXECUTABLE=/usr/bin/python3); fi
  elif [ ! -f "$root/build/release/build.ninja" ]; then
    tests=(-DQFS_TESTS=OFF)
  fi
  ensure_packages "$1"
  ensure_libtorch
  ensure_model
  if [ "$1" = test ]; then ensure_language_data; fi
  close_cache
  configure release -DQFS_TORCH=ON "-DQFS_TORCH_DIR=$torch_folder" "${tests[@]}"
}

run_sweep() {
  start 5
  set_up_release sweep
  build release qfs-bench qfs-host
  printf 'Set-up took %s. Running the sweep:\n' "$(duration "$SECONDS")"
  exec "$root/build/release/bin/qfs-bench" sweep "$root/experiments/lc_sweep.json" "$@"
}

run_tests() {
  start 8
  set_up_release test
  build release
  printf 'Set-up took %s. Running the tests:\n' "$(duration "$SECONDS")"
  cd "$root"
  exec ctest --preset release -j2 "$@"
}

build_driver() {
  start 3
  ensure_packages driver
  configure driver
  build driver qfs-bench
  "$root/build/driver/bin/qfs-bench" --version
  printf '%s\n' "$root/build/driver/bin/qfs-bench"
}

build_wheel() {
  local folder="$root/build/wheel" wheel tag
  start 4
  ensure_packages wheel
  begin_step "build (pip wheel)"
  rm -rf "$folder/dist" "$folder/tools" "$folder/environment"
  python3 -m venv "$folder/tools"
  CMAKE_BUILD_PARALLEL_LEVEL=$(build_jobs) logged_build "$log_folder/build-wheel.log" "$folder/tools/bin/python" -m pip \
    wheel --verbose --no-deps --disable-pip-version-check --wheel-dir "$folder/dist" "$root"
  end_step "done"
  begin_step "which systems it is for (auditwheel)"
  "$folder/tools/bin/python" -m pip install --quiet --disable-pip-version-check auditwheel==6.4.2 wheel==0.45.1 ||
    fail "pip could not install auditwheel and wheel (Python 3.9 or newer)"
  wheel=$(echo "$folder"/dist/*.whl)
  # It is not repaired: libraries of ICU lie inside it already, which would be copied once more.
  tag=$("$folder/tools/bin/auditwheel" show "$wheel" 2>/dev/null | tr -s ' \n' ' ' |
    grep -oP 'is consistent with the following platform tag: "\Kmanylinux_[^"]+') ||
    fail "auditwheel finds libraries that other systems lack: $folder/tools/bin/auditwheel show $wheel"
  "$folder/tools/bin/python" -m wheel tags --remove --platform-tag "$tag" "$wheel" >/dev/null
  wheel=$(echo "$folder"/dist/*.whl)
  end_step "$(basename "$wheel"), $(du -m "$wheel" | cut -f 1) MB"
  begin_step "test in an empty environment"
  python3 -m venv "$folder/environment"
  "$folder/environment/bin/python" -m pip install --quiet --no-index --disable-pip-version-check "$wheel"
  (cd "$folder/environment" && bin/python "$root/tests/python/package_test.py" "$root") ||
    fail "the installed package fails its tests"
  end_step "passed"
  printf '%s\n' "$wheel"
}

fetch_torch_only() {
  start 1
  ensure_libtorch
  printf '%s\n' "$torch_folder"
}

fetch_nvcc_only() {
  start 1
  ensure_nvcc
  printf '%s\n' "$nvcc_root/bin/nvcc"
}

fetch_model_only() {
  start 1
  ensure_model
  printf '%s\n' "$model_file"
}

fetch_punkt_only() {
  start 1
  ensure_punkt
  printf '%s\n' "$punkt_file"
}

fetch_jieba_only() {
  start 1
  ensure_jieba
  printf '%s\n' "$jieba_folder"
}

fetch_minilm_only() {
  start 1
  ensure_minilm
  printf '%s\n' "$minilm_folder"
}

install_packages_only() {
  start 1
  ensure_packages test
}

main() {
  local command=${1:-help}
  if [ $# -gt 0 ]; then shift; fi
  case "$command" in
    sweep) run_sweep "$@" ;;
    test) run_tests "$@" ;;
    driver) build_driver ;;
    wheel) build_wheel ;;
    model) fetch_model_only ;;
    punkt) fetch_punkt_only ;;
    minilm) fetch_minilm_only ;;
    jieba) fetch_jieba_only ;;
    torch) fetch_torch_only ;;
    nvcc) fetch_nvcc_only ;;
    packages) install_packages_only ;;
    help | -h | --help) usage ;;
    *)
      printf "bootstrap.sh: unknown command '%s'; valid: sweep test driver wheel model minilm punkt jieba torch nvcc packages help\n" \
        "$command" >&2
      exit 2
      ;;
  esac
}

main "$@"
