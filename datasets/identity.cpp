#include "datasets/identity.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/identity.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"

namespace qfs::datasets {
namespace {

void add_sized(Sha256& digest, const std::string& text) {
  digest.update(std::to_string(text.size())).update(":").update(text);
}

}  // namespace

std::string document_digest(std::span<const Segment> document) {
  Sha256 digest;
  for (const Segment& segment : document) {
    add_sized(digest, segment.speaker);
    add_sized(digest, segment.text);
  }
  return digest.hex();
}

Result<std::string> example_hash(const Example& example, const std::string& document) {
  nlohmann::json parts = {{"document", document}, {"query", sha256_hex(example.query)}};
  nlohmann::json& references = parts["references"] = nlohmann::json::array();
  for (const std::string& reference : example.references) {
    references.push_back(sha256_hex(reference));
  }
  Result<Json> canonical = canonical_json(parts);
  if (!canonical) return canonical.error();
  return sha256_hex(canonical->text);
}

Result<DatasetId> dataset_id(const DatasetManifest& manifest, std::span<const std::string> hashes,
                             const std::map<std::string, std::string>& field_map) {
  nlohmann::json identity = {{"reader", manifest.reader},
                             {"split", manifest.split},
                             {"view", manifest.view},
                             {"text_form", manifest.text_form},
                             {"examples", hashes}};
  nlohmann::json& files = identity["files"] = nlohmann::json::array();
  for (const SourceFile& file : manifest.files) files.push_back(file.sha256);
  if (!field_map.empty()) identity["fields"] = field_map;
  Result<Json> canonical = canonical_json(identity);
  if (!canonical) return canonical.error();
  return make_dataset_id(*canonical);
}

Status seal(Dataset& dataset, const std::map<std::string, std::string>& field_map) {
  dataset.example_hashes.clear();
  dataset.example_hashes.reserve(dataset.examples.size());
  const Example* previous = nullptr;
  std::string document;
  for (const Example& example : dataset.examples) {
    if (previous == nullptr || previous->document != example.document) {
      document = document_digest(example.document);
    }
    previous = &example;
    Result<std::string> hash = example_hash(example, document);
    if (!hash) return hash.error();
    dataset.example_hashes.push_back(*std::move(hash));
  }
  Result<DatasetId> id = dataset_id(dataset.manifest, dataset.example_hashes, field_map);
  if (!id) return id.error();
  dataset.id = *id;
  return {};
}

}  // namespace qfs::datasets
