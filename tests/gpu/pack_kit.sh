#!/usr/bin/env bash
# Packs what a GPU machine without a network needs into one folder of at most 60 MiB:
#   pack_kit.sh KIT SOURCE_DIR PROGRAM…
# Programs and plug-in are stripped; the shared libraries that they need, but for LibTorch, CUDA, glibc and
# libstdc++, which that machine has, are in lib.tar.gz. The build target `gpu-kit` calls it.
set -euo pipefail

limit_bytes=$((60 * 1024 * 1024))
kit=$1
source_dir=$2
shift 2

# needed_libraries FILE…: resolved paths of those that travel along.
needed_libraries() {
  ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/torch/lib/|/nvidia/|/lib(torch|c10|gomp|cu|nv|stdc\+\+|gcc_s)|/(lib(c|m|dl|rt|util|pthread|resolv)\.so|ld-linux)' ||
    true # none are needed
}

mkdir -p "$(dirname "$kit")"
staging=$(mktemp -d "$(dirname "$kit")/.gpu-kit.XXXXXX")
trap 'rm -rf "$staging"' EXIT
chmod 755 "$staging"
mkdir -p "$staging/bin" "$staging/lib"
for program in "$@"; do
  strip -o "$staging/bin/$(basename "$program")" "$program"
done
"$1" "$staging/tiny.gguf" # the first one writes the model
rm "$staging/bin/$(basename "$1")"
missing=$(ldd "${@:2}" | grep 'not found' | grep -vE 'lib(torch|c10|cu|nv)' || true)
if [ -n "$missing" ]; then
  printf 'gpu-kit: libraries that are not found:\n%s\n' "$missing" >&2
  exit 1
fi
needed_libraries "${@:2}" | while read -r library; do
  strip --strip-unneeded -o "$staging/lib/$(basename "$library")" "$library"
done
tar -C "$staging" -cf - lib | gzip -9n >"$staging/lib.tar.gz"
rm -r "${staging:?}/lib"
cp "$source_dir/tests/gpu/run.sh" "$source_dir/tests/gpu/efficiency.py" "$staging/"
chmod 755 "$staging/run.sh"
# What the program reads of published tables.
data=$staging/share/qfs-bench
mkdir -p "$data/experiments" "$data/reports"
cp -r "$source_dir/experiments/claims" "$data/experiments/"
cp -r "$source_dir/reports/tables" "$data/reports/"

size=$(find "$staging" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
if [ "$size" -gt "$limit_bytes" ]; then
  printf 'gpu-kit: %d bytes, more than the %d that the folder may have; its largest files:\n' "$size" "$limit_bytes" >&2
  find "$staging" -type f -printf '%s %P\n' | sort -rn | head -8 >&2
  exit 1
fi
rm -rf "$kit"
mv "$staging" "$kit"
trap - EXIT
printf 'gpu-kit: %s, %d bytes of at most %d\n' "$kit" "$size" "$limit_bytes"
