#include "methods/register_sources.h"

#include "methods/endpoint/spec.h"
#include "methods/extractive/specs.h"
#include "methods/imported/spec.h"
#include "methods/zero_shot/chunked_spec.h"
#include "methods/zero_shot/spec.h"

namespace qfs::methods {
namespace {

std::string digest_of(std::string_view family) {
  for (const FamilySource& source : family_sources()) {
    if (source.family == family) return std::string(source.digest);
  }
  return {};
}

}  // namespace

std::map<std::string, std::string> method_sources() {
  std::map<std::string, std::string> sources;
  for (const auto& spec : extractive::extractive_specs()) {
    sources[std::string(spec->name())] = digest_of("extractive");
  }
  for (std::string_view name :
       {zero_shot::ZeroShotSpec().name(), zero_shot::ChunkMergeSpec().name(),
        zero_shot::RefineSpec().name()}) {
    sources[std::string(name)] = digest_of("zero_shot");
  }
  sources[std::string(imported::ImportedSpec().name())] = digest_of("imported");
  sources[std::string(endpoint::EndpointSpec().name())] = digest_of("endpoint");
  return sources;
}

}  // namespace qfs::methods
