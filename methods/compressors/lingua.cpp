#include "methods/compressors/lingua.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace qfs::compressors {

namespace {

/// Tokens of a text beyond its own that the tool counts.
constexpr int64_t kAroundText = 2;
/// Tokens that whole texts may have beyond the target.
constexpr int64_t kBeyondTarget = 100;

/// An index of a Python slice.
int64_t sliced(int64_t index, int64_t size) {
  return index < 0 ? std::max<int64_t>(size + index, 0) : std::min(index, size);
}

/// The tool's arrays, which shrink together: losses[t] is of ids[t + 1].
class Shrinking {
 public:
  explicit Shrinking(const LinguaTask& task) : window_(task.window) {
    ids_.push_back(task.begin);
    ids_.insert(ids_.end(), task.ids.begin(), task.ids.end());
    edge_ = std::min(window_, size());
  }

  int64_t size() const { return static_cast<int64_t>(ids_.size()); }
  bool more() const { return edge_ <= size(); }
  std::span<const int32_t> kept() const { return std::span(ids_).subspan(begins_ ? 1 : 0); }

  /// Losses of what the window may change, behind the prefix as it is now.
  Status measure(bool first, const TokenLosses& losses) {
    const int64_t last = first ? size() : edge_;
    const auto found =
        losses(std::span(ids_).first(static_cast<size_t>(last)), first ? 1 : ready_ + 1);
    if (!found.ok()) return found.error();
    if (first) {
      losses_ = *found;
    } else {
      std::ranges::copy(*found, losses_.begin() + ready_);
    }
    ready_ = std::max<int64_t>(edge_ - window_, 0);
    return {};
  }

  /// Drops the predictable ones of `length` tokens.
  void shrink(int64_t length, double rate) {
    const double threshold = threshold_for(rate);
    const int64_t end = edge_ - window_ + length;
    std::vector<bool> keep(ids_.size(), true);
    for (int64_t t = sliced(end - length, size()); t < std::min(sliced(end, size()), size() - 1);
         ++t) {
      keep[static_cast<size_t>(t)] = losses_[static_cast<size_t>(t)] > threshold;
    }
    const auto dropped = std::count(keep.begin(), keep.begin() + sliced(end, size()), false);
    begins_ = begins_ && keep.front();
    erase(ids_, keep);
    erase(losses_, keep);
    edge_ += length - dropped;
  }

 private:
  double threshold_for(double rate) const {
    std::vector<double> sorted = losses_;
    std::ranges::sort(sorted, std::greater());
    const auto size = static_cast<int64_t>(sorted.size());
    const auto rank = static_cast<int64_t>(static_cast<double>(size) * rate) - 1;
    return sorted[static_cast<size_t>(std::clamp<int64_t>(rank, 0, size - 1))];
  }

  template <class Values>
  static void erase(Values& values, const std::vector<bool>& keep) {
    size_t kept = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (keep[i]) values[kept++] = values[i];
    }
    values.resize(kept);
  }

  int64_t window_;
  std::vector<int32_t> ids_;
  std::vector<double> losses_;
  int64_t edge_ = 0;    ///< of the window, as if nothing in it were dropped
  int64_t ready_ = 0;   ///< where the window before began
  bool begins_ = true;  ///< the token in front is still there
};

}  // namespace

Result<std::vector<int32_t>> keep_exactly(const LinguaTask& task, const TokenLosses& losses) {
  const auto count = static_cast<int64_t>(task.ids.size());
  const int64_t target = std::min(task.target, count);
  std::vector<int32_t> before = {task.begin};
  for (int64_t first = 0; first < count; first += task.window) {
    const int64_t last = std::min(first + task.window, count);
    const int64_t share = target * last / count - target * first / count;
    std::vector<int32_t> read = before;
    read.insert(read.end(), task.ids.begin() + first, task.ids.begin() + last);
    const auto found = losses(read, static_cast<int64_t>(before.size()));
    if (!found.ok()) return found.error();
    std::vector<int64_t> order(found->size());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
      return (*found)[static_cast<size_t>(a)] > (*found)[static_cast<size_t>(b)];
    });
    order.resize(static_cast<size_t>(share));
    std::ranges::sort(order);
    for (const int64_t t : order) before.push_back(task.ids[static_cast<size_t>(first + t)]);
  }
  return std::vector<int32_t>(before.begin() + 1, before.end());
}

std::vector<std::vector<int64_t>> released_windows(std::span<const int64_t> texts, int64_t window) {
  std::vector<std::vector<int64_t>> plan;
  std::vector<int64_t> open;
  int64_t last = 1;  // the token in front
  for (const int64_t text : texts) {
    const int64_t length = text + kAroundText;
    if (last + length < window) {
      last += length;
      open.push_back(length);
      continue;
    }
    open.push_back(window - last);
    plan.push_back(std::move(open));
    last += length - window;
    if (last > window) {
      plan.insert(plan.end(), static_cast<size_t>(last / window), {window});
      last %= window;
    }
    open.clear();
    if (last > 0) open.push_back(last);
  }
  if (!open.empty()) plan.push_back(std::move(open));
  return plan;
}

Result<LinguaTask> texts_as_released(LinguaTask task, const TokenLosses& losses) {
  if (task.texts.size() < 2) return task;
  std::vector<std::vector<int32_t>> texts;
  std::vector<double> means;
  auto at = task.ids.begin();
  for (const int64_t length : task.texts) {
    std::vector<int32_t>& text = texts.emplace_back(at, at + length);
    at += length;
    std::vector<int32_t> read = {task.begin};
    read.insert(read.end(), text.begin(), text.end());
    const auto found = losses(read, 1);
    if (!found.ok()) return found.error();
    means.push_back(std::accumulate(found->begin(), found->end(), 0.0) /
                    static_cast<double>(std::max<size_t>(found->size(), 1)));
  }
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return means[a] > means[b]; });
  int64_t room = task.target + kBeyondTarget;
  size_t kept = 0;
  while (kept < order.size() && room >= 0) room -= task.texts[order[kept++]] + 1;
  order.resize(kept);
  std::ranges::sort(order);
  task.ids.clear();
  task.texts.clear();
  for (const size_t i : order) {
    task.ids.insert(task.ids.end(), texts[i].begin(), texts[i].end());
    task.texts.push_back(static_cast<int64_t>(texts[i].size()));
  }
  return task;
}

Result<std::vector<int32_t>> keep_as_released(const LinguaTask& task, const TokenLosses& losses) {
  if (task.ids.empty()) return std::vector<int32_t>();
  std::vector<int64_t> texts = task.texts;
  if (texts.empty()) texts = {static_cast<int64_t>(task.ids.size())};
  int64_t counted = 1;
  for (const int64_t text : texts) counted += text + kAroundText;
  const double rate =
      std::clamp(static_cast<double>(task.target) / static_cast<double>(counted), 0.0, 1.0);
  Shrinking arrays(task);
  bool first = true;
  for (const std::vector<int64_t>& window : released_windows(texts, task.window)) {
    if (!arrays.more()) break;
    if (Status measured = arrays.measure(first, losses); !measured.ok()) return measured.error();
    for (const int64_t length : window) arrays.shrink(length, rate);
    first = false;
  }
  const auto kept = arrays.kept();
  return std::vector<int32_t>(kept.begin(), kept.end());
}

}  // namespace qfs::compressors
