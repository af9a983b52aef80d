#include "harness/core/identity.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"

namespace qfs {
namespace {

std::string identity_hex(std::string_view kind, const Json& canonical) {
  Sha256 hash;
  hash.update("qfs-bench/" + std::to_string(kIdentityVersion) + "/");
  hash.update(kind).update("\n").update(canonical.text);
  return hash.hex();
}

}  // namespace

DatasetId make_dataset_id(const Json& canonical) {
  return DatasetId(identity_hex("dataset", canonical));
}

CellId make_cell_id(const Json& canonical) { return CellId(identity_hex("cell", canonical)); }

NumericsId make_numerics_id(const Json& canonical) {
  return NumericsId(identity_hex("numerics", canonical));
}

ScoreId make_score_id(const Json& canonical) { return ScoreId(identity_hex("score", canonical)); }

ScoreId make_score_id(const CellId& cell, const NumericsId& numerics, const Json& postprocess,
                      std::string_view metric) {
  const nlohmann::json identity = {{"cell_id", cell.hex()},
                                   {"numerics_id", numerics.hex()},
                                   {"postprocess", postprocess.text},
                                   {"metric", metric}};
  return make_score_id(*canonical_json(identity));
}

}  // namespace qfs
