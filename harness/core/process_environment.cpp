// Which of our environment variables a child may see.
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "harness/core/child_process.h"

namespace qfs {
namespace {

bool is_allowed(std::string_view name) {
  constexpr std::string_view kNames[] = {"PATH",   "HOME",       "LANG",        "TZ",
                                         "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH"};
  constexpr std::string_view kPrefixes[] = {"LC_",  "XDG_",  "QFS_",    "OMP_",    "GOMP_",
                                            "MKL_", "CUDA_", "NVIDIA_", "PYTORCH_"};
  // Descriptors of a session this process is itself a host of.
  if (name == "QFS_REQUEST_FD" || name == "QFS_REPLY_FD") return false;
  return std::ranges::find(kNames, name) != std::end(kNames) ||
         std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::map<std::string, std::string> allowed_environment() {
  std::map<std::string, std::string> allowed;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == text.npos) continue;
    if (const std::string_view name = text.substr(0, equals); is_allowed(name)) {
      allowed.emplace(name, text.substr(equals + 1));
    }
  }
  return allowed;
}

}  // namespace qfs
