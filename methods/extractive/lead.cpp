// lead: the first sentences of the document, the baseline that every summarizer should beat.
#include <numeric>

#include "methods/extractive/selectors.h"

namespace qfs::extractive {
namespace {

class Lead final : public retrieval::Selector {
 public:
  Status prepare(std::span<const retrieval::Passage> passages, retrieval::Script) override {
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

std::unique_ptr<retrieval::Selector> make_lead_selector(const SessionRequest&) {
  return std::make_unique<Lead>();
}

}  // namespace qfs::extractive
