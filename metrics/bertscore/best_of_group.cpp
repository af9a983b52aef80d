#include "metrics/bertscore/best_of_group.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace qfs::metrics {

namespace {

class BestOfGroup final : public Metric {
 public:
  BestOfGroup(std::shared_ptr<const Metric> inner, size_t by)
      : inner_(std::move(inner)), by_(by), own_(inner_->columns().size()) {}

  std::string_view name() const override { return inner_->name(); }
  std::string_view doc() const override { return inner_->doc(); }
  std::vector<std::string> columns() const override {
    std::vector<std::string> columns = inner_->columns();
    columns.emplace_back("chosen");
    return columns;
  }
  std::string signature() const override {
    std::string signature = inner_->signature();  // what stands behind "v" is of a run
    return signature.insert(signature.rfind("|v:"), "|groups:best(" + inner_->columns()[by_] + ")");
  }
  MetricNeeds needs() const override {
    MetricNeeds needs = inner_->needs();
    needs.corpus = true;
    return needs;
  }
  std::string_view note(const ScoreItem& item) const override { return inner_->note(item); }

  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override {
    auto rows = inner_->measure(items);
    if (!rows.ok()) return rows;
    std::unordered_map<std::string_view, size_t> best;
    for (size_t i = 0; i < items.size(); ++i) {
      Statistics& row = (*rows)[i];
      row.push_back(1);
      if (items[i].group.empty()) continue;
      const auto [other, fresh] = best.try_emplace(items[i].group, i);
      if (fresh) continue;
      Statistics& rival = (*rows)[other->second];
      Statistics& worse = row[by_] > rival[by_] ? rival : row;
      if (&worse == &rival) other->second = i;
      std::ranges::fill(worse, 0.0);
    }
    return rows;
  }

  void values_from_means(std::span<double> means) const override {
    const double chosen = means[own_];
    // A resample of groups has at least one chosen row; one of single rows may have none.
    if (!(chosen > 0)) return;
    for (double& mean : means.first(own_)) mean /= chosen;
    inner_->values_from_means(means.first(own_));
  }

 private:
  std::shared_ptr<const Metric> inner_;
  size_t by_;
  size_t own_;  ///< columns of the inner metric
};

}  // namespace

std::shared_ptr<const Metric> best_of_group(std::shared_ptr<const Metric> inner,
                                            const std::string& by) {
  const std::vector<std::string> columns = inner->columns();
  const auto place = std::ranges::find(columns, by) - columns.begin();
  return std::make_shared<BestOfGroup>(std::move(inner), static_cast<size_t>(place));
}

}  // namespace qfs::metrics
