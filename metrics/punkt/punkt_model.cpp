#include "metrics/punkt/punkt_model.h"

namespace qfs::metrics {

PunktModel::PunktModel(const PunktTables& tables)
    : abbreviations_(tables.abbreviations.begin(), tables.abbreviations.end()),
      starters_(tables.sentence_starters.begin(), tables.sentence_starters.end()),
      contexts_(tables.orthography.begin(), tables.orthography.end()),
      sha256_(tables.sha256()) {
  for (const auto& [first, second] : tables.collocations) {
    collocations_.insert(first + "\t" + second);
  }
}

bool PunktModel::is_collocation(std::string_view first, std::string_view second) const {
  std::string key(first);
  key += '\t';
  key += second;
  return collocations_.contains(key);
}

int PunktModel::contexts(std::string_view type) const {
  const auto found = contexts_.find(type);
  return found == contexts_.end() ? 0 : found->second;
}

}  // namespace qfs::metrics
