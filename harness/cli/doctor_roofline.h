// `doctor --roofline`: what this machine does at most with a model, measured by qfs-host.
//
// Called by doctor_command.cpp. `unavailable` without qfs-host; other errors are the host's.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/commands.h"

namespace qfs::cli {

struct RooflineOptions {
  bool asked = false;                   ///< --roofline, without which the others are an error
  std::optional<std::string> backbone;  ///< default: smollm2-135m where it is there
  std::string device = "cpu";
  std::string dtype = "float32";
  int threads = 0;                     ///< 0: one a core
  std::vector<int64_t> prompt_tokens;  ///< empty: the host's
  std::optional<int64_t> context;
};

Result<ExitCode> run_roofline(const RooflineOptions& options, const GlobalOptions& global);

/// What is printed for people of the host's answer (methods/models/inspect/roofline.h).
std::string roofline_text(const nlohmann::json& answer);

}  // namespace qfs::cli
