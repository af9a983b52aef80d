#include "datasets/predictions/one_kind_of_id.h"

namespace qfs::datasets {

Status OneKindOfId::add(const PredictionRecord& record) {
  if (!numbered_) {
    numbered_ = record.numbered;
    first_ = record.where;
  }
  if (*numbered_ == record.numbered) return {};
  const std::string& without = record.numbered ? record.where : first_;
  const std::string& with = record.numbered ? first_ : record.where;
  return data_error(
      "this record has no id, and the one at " + with +
          " has; either every record has one or none, where numbers from 1 stand for it",
      without);
}

}  // namespace qfs::datasets
