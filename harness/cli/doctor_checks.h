// What `doctor` looks at, one function an area. Findings are facts, notes and problems in words; a
// check that cannot be made is a finding, never an error.
//
// Called by doctor_command.cpp. Reads files of /proc, probes qfs-host, reads models and a store.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/cli/commands.h"
#include "harness/store/reader.h"

namespace qfs::cli {

enum class Grade {
  ok,
  note,
  unchecked,  ///< what was asked for and could not be looked at
  problem,
};

inline constexpr size_t kMostListed = 10;  ///< findings of one kind

struct Finding {
  Grade grade = Grade::ok;
  std::string subject;  ///< "program", "machine", "qfs-host", "models", "store" …
  std::string text;
};

std::vector<Finding> check_program();
std::vector<Finding> check_machine();
/// qfs-host: found, speaks the protocol, which LibTorch, and whether a driver fits its CUDA.
std::vector<Finding> check_tensor_host();
/// Registered models: present, and their SHA-256 as declared.
std::vector<Finding> check_models();
struct RescoreRequest {
  bool asked = false;
  /// Stand in for texts that the store does not have.
  std::vector<std::shared_ptr<const Dataset>> data = {};
};

/// The store that --store names or the current folder has; nothing to check is a note. `rescore`:
/// its scores are computed again from its outputs as well.
std::vector<Finding> check_store(const GlobalOptions& global, const RescoreRequest& rescore);
/// Columns of cells and parameters of places against the identities that ids are of, and whether
/// the marks of oracles are those of the methods.
std::vector<Finding> check_cells(store::Reader& reader);
/// Every score of a store computed again; what could not be is `unchecked`. `data`: as above.
std::vector<Finding> check_scores(store::Reader& reader,
                                  std::span<const std::shared_ptr<const Dataset>> data);

/// The version in /proc/driver/nvidia/version, e.g. "580.65.06".
std::optional<std::string> nvidia_driver_version(std::string_view text);

/// Whether a driver of this version runs CUDA 13 (580 or newer; NVIDIA's CUDA compatibility table).
Finding check_nvidia_driver(const std::string& version);

}  // namespace qfs::cli
