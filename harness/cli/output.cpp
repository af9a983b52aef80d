#include "harness/cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/cli/store_path.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/core/utf8.h"

namespace qfs::cli {
namespace {

/// A terminal obeys control characters, whoever wrote them; files and pipes get every byte.
std::string for_terminal(std::string_view text) {
  std::string lines;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!text.substr(i).starts_with("\r\n")) lines += text[i];  // CSV
  }
  return terminal_safe(lines);
}

}  // namespace

Status print_result(std::string_view text) {
  std::string shown;
  if (::isatty(STDOUT_FILENO) == 1) text = shown = for_terminal(text);
  // A reader that has seen enough (`| head`) ends this program as it ends every other.
  std::signal(SIGPIPE, SIG_DFL);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    return unavailable(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
  return {};
}

Status write_result(std::string_view text, const std::string& path) {
  if (path.empty() || path == "-") return print_result(text);
  if (Status kept = keep_stores(path); !kept) return kept;
  return write_file(path, text);
}

Status keep_stores(const std::string& path) {
  if (is_store_file(path)) {
    return invalid_argument(
        fmt::format("'{}' is a store, which would be lost: write to another file", path));
  }
  for (const std::string_view ending : {"-wal", "-shm", "-journal", ".lock"}) {
    const std::string store = path.substr(0, path.size() - std::min(path.size(), ending.size()));
    if (!path.ends_with(ending) || !is_store_file(store)) continue;
    return invalid_argument(fmt::format(
        "'{}' belongs to the store '{}', which would lose what was written last: write to another "
        "file",
        path, store));
  }
  return {};
}

Status keep_apart(std::span<const OutputOption> outputs) {
  const auto place_of = [](const std::string& path) {
    std::error_code unknown;  // what cannot be resolved cannot be written either
    const auto absolute = std::filesystem::absolute(path, unknown);
    const auto place = std::filesystem::weakly_canonical(absolute, unknown);
    return unknown ? absolute : place;
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t j = i + 1; j < outputs.size(); ++j) {
      const auto& [first, path] = outputs[i];
      const auto& [second, other] = outputs[j];
      std::error_code absent;
      if (path.empty() || other.empty() || path == "-" || other == "-") continue;
      const bool linked = std::filesystem::is_regular_file(path, absent) &&
                          std::filesystem::equivalent(path, other, absent);
      if (!linked && place_of(path) != place_of(other)) continue;
      return invalid_argument(
          fmt::format("{} and {} are both written to '{}'", first, second, path));
    }
  }
  return {};
}

Status keep_inputs(std::string_view option, const std::string& path,
                   std::span<const std::string> inputs) {
  std::error_code ignored;  // of a file that does not exist yet
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  for (const std::string& input : inputs) {
    if (!std::filesystem::equivalent(input, path, ignored)) continue;
    return invalid_argument(fmt::format(
        "{} '{}' is also read, and would be lost: write to another file", option, path));
  }
  return {};
}

std::string json_document(std::string_view name, const nlohmann::json& body, int version) {
  nlohmann::json document = body;
  document["schema"] = fmt::format("qfs-bench/{}/{}", name, version);
  return terminal_safe_json(
             document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) +
         "\n";
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> safe = rows;
  std::vector<size_t> widths;
  for (auto& row : safe) {
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = terminal_safe(row[i]);
      std::ranges::replace_if(
          row[i], [](char c) { return c == '\n' || c == '\t'; }, ' ');
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], static_cast<size_t>(count_code_points(row[i])));
    }
  }
  std::string text;
  for (const auto& row : safe) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 == row.size()) break;
      line.append(widths[i] + 2 - static_cast<size_t>(count_code_points(row[i])), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace qfs::cli
