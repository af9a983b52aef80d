// What `qfs-bench model` prints for people, from the host's answers.
//
// Called by model_command.cpp. Pure; thread-safe. The answers are this program's own (PROTOCOL.md),
// so a missing key is a programming error.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace qfs::cli {

/// `tensors`: with the table of all of them.
std::string inspected_text(const nlohmann::json& answer, bool tensors);
std::string verified_text(const nlohmann::json& answer);
std::string logits_text(const nlohmann::json& answer);
std::string generated_text(const nlohmann::json& answer);

}  // namespace qfs::cli
