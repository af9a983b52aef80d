// random: sentences drawn without replacement. The stream is derived from the run's seed and the
// example's key, so neither the order of the examples nor a resumed run changes a draw.
#include <numeric>

#include "harness/core/rng.h"
#include "methods/extractive/selectors.h"

namespace qfs::extractive {
namespace {

class Random final : public retrieval::Selector {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}

  Status prepare(std::span<const retrieval::Passage> passages, retrieval::Script) override {
    count_ = passages.size();
    return {};
  }

  Result<std::vector<size_t>> select(const Example& example) override {
    std::vector<size_t> order(count_);
    std::iota(order.begin(), order.end(), size_t{0});
    Rng::derived(seed_, "extractive/random/" + example.key).shuffle(order);
    return order;
  }

 private:
  uint64_t seed_;
  size_t count_ = 0;
};

}  // namespace

std::unique_ptr<retrieval::Selector> make_random_selector(const SessionRequest& request) {
  return std::make_unique<Random>(request.seed);
}

}  // namespace qfs::extractive
