#include "harness/apps/light_host.h"

#include <unicode/uversion.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "harness/core/build_info.h"
#include "harness/core/json_dom.h"
#include "harness/host/server.h"
#include "methods/external/document_cutter.h"
#include "methods/families.h"
#include "methods/light_sessions.h"
#include "methods/models/prompted/prompt_counter.h"

namespace qfs::apps {
namespace {

std::string icu_version() {
  UVersionInfo version;
  u_getVersion(version);
  char text[U_MAX_VERSION_STRING_LENGTH];
  u_versionToString(version, text);
  return text;
}

Result<host::ProbeReply> probe(const RuntimeOptions&) {
  Result<Json> numerics = canonical_json({{"device", "cpu"}, {"icu", icu_version()}});
  if (!numerics) return numerics.error();
  host::ProbeReply reply;
  reply.host = "light";
  reply.numerics = *std::move(numerics);
  nlohmann::json facts = nlohmann::json::parse(build_facts().text);
  facts["sources"] = methods::method_sources();
  facts["layers"] = methods::layer_digests();
  Result<Json> canonical = canonical_json(facts);
  if (!canonical) return canonical.error();
  reply.facts = *std::move(canonical);
  return reply;
}

}  // namespace

int serve_light_host() {
  std::vector<SessionFactory> sessions = methods::light_sessions();
  sessions.push_back(external::document_cutter());
  sessions.push_back(prompted::prompt_counter());
  return host::serve_inherited({.sessions = sessions, .probe = probe, .take_device_counts = {}});
}

}  // namespace qfs::apps
