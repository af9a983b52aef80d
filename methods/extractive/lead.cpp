// lead: the first sentences of the document, the baseline that every summarizer should beat.
#include <numeric>

#include "methods/extractive/selector.h"

namespace qfs::extractive {
namespace {

class Lead final : public Selector {
 public:
  Status prepare(std::span<const Passage> passages, Script) override {
    count_ = passages.size();
    return {};
  }

  Result<std::vector<size_t>> select(const Example&) override {
    std::vector<size_t> order(count_);
    std::iota(order.begin(), order.end(), size_t{0});
    return order;
  }

 private:
  size_t count_ = 0;
};

}  // namespace

std::unique_ptr<Selector> make_lead_selector(const SessionRequest&) {
  return std::make_unique<Lead>();
}

}  // namespace qfs::extractive
