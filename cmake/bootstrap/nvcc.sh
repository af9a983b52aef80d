# shellcheck shell=bash disable=SC2154
# CUDA's compiler where no toolkit is installed, out of pinned wheels, for the preset `cuda`.
# Sourced by bootstrap.sh after fetch.sh.

nvcc_place="$cache/nvcc-13.0.88"
nvcc_root="$nvcc_place/nvidia/cu13"

# ensure_nvcc: one step. Wheels have no execute bits and no names to link with.
ensure_nvcc() {
  begin_step "nvcc 13.0"
  if [ -x "$nvcc_root/bin/nvcc" ]; then
    end_step "cached"
    return
  fi
  local size new
  open_cache
  new="$staging/nvcc"
  size=$(pin_megabytes nvcc.txt)
  need_disk $((5 * size))
  extend_step "fetching $size MB"
  fetch_wheels nvcc.txt
  unpack_wheels nvcc "$new"
  find "$new"/nvidia/cu13/bin "$new"/nvidia/cu13/nvvm/bin -type f -exec chmod +x {} +
  ln -s lib "$new/nvidia/cu13/lib64"
  ln -s libcudart.so.13 "$new/nvidia/cu13/lib/libcudart.so"
  rm -rf "$nvcc_place"
  mv -T "$new" "$nvcc_place"
  end_step "fetched into $cache"
}
