#include "harness/cli/assumed_host.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/core/files.h"
#include "harness/core/json_dom.h"

namespace qfs::cli {

Result<run::AssumedHost> read_assumed_host(const std::string& path) {
  Result<std::string> text = read_file(path, size_t{1} << 20);
  if (!text) return text.error();
  Result<nlohmann::json> probe = parse_json(*text, path);
  if (!probe) return probe.error();
  const auto wrong = [&](const std::string& what) {
    return data_error(what + "; expected what 'qfs-host probe' prints", path);
  };
  if (!probe->is_object() || probe->value("schema", "") != "qfs-host/probe/1") {
    return wrong("no probe of schema qfs-host/probe/1");
  }
  const auto numerics = probe->find("numerics");
  if (numerics == probe->end() || !numerics->is_object()) return wrong("no object 'numerics'");
  run::AssumedHost host;
  for (const char* key : {"device", "dtype"}) {
    const auto it = numerics->find(key);
    if (it == numerics->end() || !it->is_string()) return wrong(fmt::format("no text '{}'", key));
  }
  const auto threads = numerics->find("threads");
  if (threads == numerics->end() || !threads->is_number_integer() || *threads < 1) {
    return wrong("no number 'threads' of at least 1");
  }
  host.runtime.device = (*numerics)["device"];
  host.runtime.dtype = (*numerics)["dtype"];
  host.runtime.threads = *threads;
  Result<Json> canonical = canonical_json(*numerics);
  if (!canonical) return canonical.error();
  host.numerics = *std::move(canonical);
  return host;
}

}  // namespace qfs::cli
