# shellcheck shell=bash disable=SC2154
# Where LibTorch 2.11 is: QFS_TORCH_DIR, the torch of python3, or the cache, filled from pinned wheels.
# Sourced by bootstrap.sh after fetch.sh.

torch_version=2.11.0
torch_folder=""

has_nvidia_driver() { [ -r /proc/driver/nvidia/version ]; }

# libtorch_kind: cuda where a GPU can be used, else cpu; QFS_TORCH_KIND overrides (a login node, say).
libtorch_kind() {
  case "${QFS_TORCH_KIND:-}" in
    cpu | cuda) printf '%s' "$QFS_TORCH_KIND" ;;
    "") if has_nvidia_driver; then printf cuda; else printf cpu; fi ;;
    *) fail "QFS_TORCH_KIND is '$QFS_TORCH_KIND'; valid: cpu, cuda" ;;
  esac
}

# usable_torch FOLDER: the right version, with headers, and every library it is linked with is found.
usable_torch() {
  [ -d "$1/include/ATen" ] && [ -f "$1/lib/libtorch_cpu.so" ] &&
    { [ ! -f "$1/version.py" ] || grep -q "__version__ = '2\.11\." "$1/version.py"; } &&
    ! ldd "$1/lib/libtorch_cpu.so" 2>/dev/null | grep -q "not found"
}

# python_torch: the folder of python3's torch, without importing it (which takes seconds).
python_torch() {
  python3 - <<'PYTHON' 2>/dev/null
import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] if spec else "")
PYTHON
}

# ensure_libtorch: one step; sets torch_folder.
ensure_libtorch() {
  begin_step "LibTorch $torch_version"
  if [ -n "${QFS_TORCH_DIR:-}" ]; then
    usable_torch "$QFS_TORCH_DIR" ||
      fail "QFS_TORCH_DIR=$QFS_TORCH_DIR is not a usable LibTorch 2.11" \
        "Expected: include/ATen, lib/libtorch_cpu.so, and all libraries that it is linked with." \
        "A Python installation has it as site-packages/torch."
    torch_folder=$QFS_TORCH_DIR
    end_step "QFS_TORCH_DIR"
    return
  fi
  torch_folder=$(python_torch) || torch_folder=""
  if [ -n "$torch_folder" ] && usable_torch "$torch_folder"; then
    end_step "python3's torch: $torch_folder"
    return
  fi
  torch_folder="$cache/libtorch-$torch_version/torch"
  local kind
  kind=$(libtorch_kind)
  if libtorch_is_cached "$kind"; then
    end_step "cached"
    return
  fi
  fetch_libtorch "$kind"
  end_step "fetched into $cache"
}

# libtorch_is_cached KIND: the cached one was made from today's pins; cuda serves cpu as well.
libtorch_is_cached() {
  local made_from kind
  made_from=$(cat "$cache/libtorch-$torch_version/MADE_FROM" 2>/dev/null) || return 1
  for kind in "$1" cuda; do
    if [ "$made_from" = "$(libtorch_recipe "$kind")" ]; then return 0; fi
  done
  return 1
}

libtorch_recipe() { printf '%s %s' "$1" "$(sha256sum <"$pins/libtorch-$1.txt" | cut -c 1-64)"; }

# fetch_libtorch KIND: download, unpack, check, rename.
fetch_libtorch() {
  [ "$(uname -m)" = x86_64 ] ||
    fail "LibTorch $torch_version is pinned for x86_64 only; this is $(uname -m)" \
      "Set QFS_TORCH_DIR to a LibTorch 2.11, or build the driver alone: ./bootstrap.sh driver"
  open_cache
  if libtorch_is_cached "$1"; then return; fi
  local size new="$staging/libtorch" place="$cache/libtorch-$torch_version"
  size=$(pin_megabytes "libtorch-$1.txt")
  need_disk $((3 * size))
  extend_step "fetching $size MB"
  fetch_wheels "libtorch-$1.txt"
  unpack_wheels "libtorch-$1" "$new"
  usable_torch "$new/torch" ||
    fail "the unpacked LibTorch is incomplete:" "$(ldd "$new/torch/lib/libtorch_cpu.so" | grep 'not found')"
  libtorch_recipe "$1" >"$new/MADE_FROM"
  if [ -e "$place" ]; then mv -T "$place" "$staging/replaced"; fi
  mv -T "$new" "$place"
}
