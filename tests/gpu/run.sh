#!/usr/bin/env bash
# Tests and measures qfs-bench on this machine's GPU, from a kit that the build target `gpu-kit` packed.
#   run.sh [--tests-only]
# LibTorch is the torch 2.11 of this machine's python3 (PYTHON names another). Results are JSON files in $OUT
# (default: ./gpu-kit-out), and efficiency/efficiency.md: speed, memory and work in the papers' settings.
# QFS_KIT_MODEL: a GGUF model to run beside the tiny one of the kit, and which the report is of.
# Exit codes: 0 all passed, 2 usage, 3 no usable LibTorch or a program does not start, 4 the tests fail on the
# CPU, 5 no GPU (the CPU's part passed), 6 the tests fail on the GPU, 7 a model's ids differ between CPU and
# GPU, or the benchmark or a part of the report fails.
set -u

kit=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$PWD/gpu-kit-out}
measure=1

# stop CODE MESSAGE…
stop() {
  local code=$1
  shift
  printf 'run.sh: %s\n' "$@" >&2
  exit "$code"
}

case "${1:-}" in
  "") ;;
  --tests-only) measure=0 ;;
  *) stop 2 "usage: run.sh [--tests-only]" ;;
esac
mkdir -p "$out" || stop 2 "cannot write to $out"

# The folder of torch and its version, without importing it.
find_torch() {
  "${PYTHON:-python3}" - <<'PYTHON'
import importlib.util, pathlib, re, sys
spec = importlib.util.find_spec("torch")
if spec is None or not spec.submodule_search_locations:
    sys.exit("python has no module torch")
folder = pathlib.Path(spec.submodule_search_locations[0])
version = re.search(r"__version__ = '([^']*)'", (folder / "version.py").read_text())
if version is None or not version.group(1).startswith("2.11.0"):
    sys.exit(f"torch is {version.group(1) if version else 'of an unknown version'}, need 2.11.0")
if not (folder / "lib/libtorch_cpu.so").is_file():
    sys.exit(f"{folder}/lib has no libtorch_cpu.so")
print(folder)
PYTHON
}
torch=$(find_torch 2>"$out/torch.txt") || stop 3 "no usable LibTorch: $(cat "$out/torch.txt")"
rm -f "$out/torch.txt"

libraries=$(mktemp -d) || stop 3 "no folder for libraries"
trap 'rm -rf "$libraries"' EXIT
tar -xzf "$kit/lib.tar.gz" -C "$libraries" || stop 3 "lib.tar.gz cannot be unpacked"
path="$torch/lib"
for folder in "$torch"/../nvidia/*/lib; do
  [ -d "$folder" ] && path="$path:$folder"
done
export LD_LIBRARY_PATH="$path:$libraries/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export QFS_HOST="$kit/bin/qfs-host"

"$kit/bin/qfs-bench" --version || stop 3 "qfs-bench does not start"
"$kit/bin/qfs-host" probe --json >"$out/probe_cpu.json" || stop 3 "qfs-host does not start"

# ids DEVICE MODEL: greedy ids in float32.
ids() {
  "$kit/bin/qfs-bench" model generate "$2" --ids 5,6,7,8,9,10,11,12 --max-new-tokens 64 --device "$1" \
    --dtype float32 --json
}

echo "tests on the CPU"
(cd "$kit" && OMP_NUM_THREADS=1 bin/device_test --gtest_brief=1 --gtest_output="json:$out/tests_cpu.json") ||
  stop 4 "the tests fail on the CPU"
ids cpu "$kit/tiny.gguf" >"$out/tiny_cpu.json" || stop 4 "the tiny model does not run on the CPU"

if ! "$kit/bin/qfs-host" probe --json --device cuda >"$out/probe_cuda.json" 2>"$out/no_gpu.txt"; then
  stop 5 "no GPU: $(cat "$out/no_gpu.txt")" "the CPU's part passed; results are in $out"
fi
rm -f "$out/no_gpu.txt"

echo "tests on the GPU"
(cd "$kit" && QFS_TEST_DEVICE=cuda bin/device_test --gtest_brief=1 --gtest_output="json:$out/tests_cuda.json") ||
  stop 6 "the tests fail on the GPU; see $out/tests_cuda.json"
for model in "$kit/tiny.gguf" ${QFS_KIT_MODEL:+"$QFS_KIT_MODEL"}; do
  name=$(basename "$model" .gguf)
  ids cpu "$model" >"$out/${name}_cpu.json" || stop 7 "$name does not run on the CPU"
  ids cuda "$model" >"$out/${name}_cuda.json" || stop 7 "$name does not run on the GPU"
  "${PYTHON:-python3}" - "$out/${name}_cpu.json" "$out/${name}_cuda.json" <<'PYTHON' || stop 7 "$name: ids differ"
import json, sys
cpu, cuda = (json.load(open(path)) for path in sys.argv[1:])
sys.exit(0 if cpu["ids"] == cuda["ids"] else 1)
PYTHON
done
[ "$measure" = 1 ] || exit 0
echo "benchmark"
"$kit/bin/qfs_bench_device" >"$out/bench.json" || stop 7 "the benchmark fails"
echo "efficiency in the papers' settings"
if [ -n "${QFS_KIT_MODEL:-}" ]; then
  report=("$QFS_KIT_MODEL" "$out/efficiency")
else # to see it run: the tiny model's numbers mean nothing
  report=("$kit/tiny.gguf" "$out/efficiency" --tokens 256 --new-tokens 16 --longest 768 --inputs "256,512" --shots "1,2")
fi
"${PYTHON:-python3}" "$kit/efficiency.py" "$kit/bin/qfs-bench" "${report[@]}" --device cuda ||
  stop 7 "a part of the efficiency report fails; see $out/efficiency/efficiency.md"
echo "results are in $out"
