#include "methods/compressors/lingua.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>

namespace qfs::compressors {

namespace {

/// Tokens of a text beyond its own that the tool counts.
constexpr int64_t kAroundText = 2;
/// Tokens that whole texts may have beyond the target.
constexpr int64_t kBeyondTarget = 100;

/// Tokens in front that are never forgotten.
constexpr int64_t kNeverForgotten = 10;

/// An index of a Python slice.
int64_t sliced(int64_t index, int64_t size) {
  return index < 0 ? std::max<int64_t>(size + index, 0) : std::min(index, size);
}

/// The tool's arrays, which shrink together: losses[t] is of ids[t + 1], as long as nothing has
/// been put aside.
class Shrinking {
 public:
  Shrinking(const LinguaTask& task, SmallLm& model) : model_(model), window_(task.window) {
    ids_.push_back(task.begin);
    ids_.insert(ids_.end(), task.ids.begin(), task.ids.end());
    edge_ = std::min<int64_t>(window_, std::ssize(ids_));
  }

  bool more() const { return edge_ <= std::ssize(ids_); }
  std::vector<int32_t> kept() const {
    std::vector<int32_t> all = aside_;
    all.insert(all.end(), ids_.begin(), ids_.end());
    if (begins_) all.erase(all.begin());
    return all;
  }

  /// Losses of the whole text, as far as it has positions.
  Status measure_all() {
    const int64_t read = std::min<int64_t>(std::ssize(ids_), model_.positions());
    auto found = model_.losses(std::span(ids_).first(static_cast<size_t>(read)), 1);
    if (!found.ok()) return found.error();
    losses_ = *std::move(found);
    return {};
  }

  /// Losses of what the window may change, behind the prefix as it is now.
  Status measure() {
    if (Status status = make_room(); !status.ok()) return status;
    const auto begin = static_cast<size_t>(held_);
    const int64_t held = std::max<int64_t>(edge_ - window_, 0);
    const auto found = model_.losses(
        std::span(ids_).subspan(begin, static_cast<size_t>(edge_) - begin), 1, held - held_);
    if (!found.ok()) return found.error();
    losses_.resize(std::max(losses_.size(), static_cast<size_t>(edge_ - 1)));
    std::ranges::copy(*found, losses_.begin() + held_);
    held_ = held;
    return {};
  }

  /// Drops the predictable ones of `length` tokens.
  void shrink(int64_t length, double rate) {
    const double threshold = threshold_for(rate);
    const int64_t end = edge_ - window_ + length;
    std::vector<bool> keep(losses_.size() + 1, true);
    const int64_t last = std::min(sliced(end, std::ssize(keep)), std::ssize(losses_));
    for (int64_t t = sliced(end - length, std::ssize(keep)); t < last; ++t) {
      keep[static_cast<size_t>(t)] = losses_[static_cast<size_t>(t)] > threshold;
    }
    erase(losses_, keep);
    keep.resize(ids_.size(), true);
    const auto dropped =
        std::count(keep.begin(), keep.begin() + sliced(end, std::ssize(keep)), false);
    begins_ = begins_ && (!aside_.empty() || keep.front());
    erase(ids_, keep);
    edge_ += length - dropped;
  }

 private:
  /// Puts as many tokens aside as go over the model's positions. Losses keep their places: the
  /// tool's do.
  Status make_room() {
    const int64_t over = edge_ - model_.positions();
    if (over <= 0 || held_ == 0) return {};
    aside_.insert(aside_.end(), ids_.begin(), ids_.begin() + over);
    ids_.erase(ids_.begin(), ids_.begin() + over);
    edge_ -= over;
    held_ -= over;
    return model_.forget(kNeverForgotten, over);
  }

  double threshold_for(double rate) const {
    std::vector<double> sorted = losses_;
    std::ranges::sort(sorted, std::greater());
    const int64_t size = std::ssize(sorted);
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

  SmallLm& model_;
  int64_t window_;
  std::vector<int32_t> aside_;  ///< in front of ids_, final
  std::vector<int32_t> ids_;
  std::vector<double> losses_;
  int64_t edge_ = 0;    ///< of the window, as if nothing in it were dropped
  int64_t held_ = 0;    ///< of ids_, by the model: those before the last window
  bool begins_ = true;  ///< the token in front is still there
};

}  // namespace

Result<std::vector<int32_t>> keep_exactly(const LinguaTask& task, SmallLm& model) {
  const auto count = static_cast<int64_t>(task.ids.size());
  const int64_t target = std::min(task.target, count);
  std::vector<int32_t> before = {task.begin};
  for (int64_t first = 0; first < count; first += task.window) {
    const int64_t last = std::min(first + task.window, count);
    const int64_t share = target * last / count - target * first / count;
    std::vector<int32_t> read = before;
    read.insert(read.end(), task.ids.begin() + first, task.ids.begin() + last);
    const auto found = model.losses(read, static_cast<int64_t>(before.size()));
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

Result<LinguaTask> texts_as_released(LinguaTask task, SmallLm& model) {
  if (task.texts.size() < 2) return task;
  std::vector<std::vector<int32_t>> texts;
  std::vector<double> means;
  auto at = task.ids.begin();
  for (const int64_t length : task.texts) {
    std::vector<int32_t>& text = texts.emplace_back(at, at + length);
    at += length;
    std::vector<int32_t> read = {task.begin};
    read.insert(read.end(), text.begin(), text.end());
    read.resize(std::min(read.size(), static_cast<size_t>(model.positions())));
    const auto found = model.losses(read, 1);
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

Result<std::vector<int32_t>> keep_as_released(const LinguaTask& task, SmallLm& model) {
  if (task.ids.empty()) return std::vector<int32_t>();
  if (std::ssize(task.ids) >= model.positions() &&
      2 * task.window + kNeverForgotten > model.positions()) {
    return invalid_argument(
        "windows of " + std::to_string(task.window) + " tokens of a text that has more than the " +
        std::to_string(model.positions()) + " positions of the model that chooses; expected " +
        std::to_string((model.positions() - kNeverForgotten) / 2) + " at most");
  }
  std::vector<int64_t> texts = task.texts;
  if (texts.empty()) texts = {static_cast<int64_t>(task.ids.size())};
  int64_t counted = 1;
  for (const int64_t text : texts) counted += text + kAroundText;
  const double rate =
      std::clamp(static_cast<double>(task.target) / static_cast<double>(counted), 0.0, 1.0);
  Shrinking arrays(task, model);
  bool first = true;
  for (const std::vector<int64_t>& window : released_windows(texts, task.window)) {
    if (!arrays.more()) break;
    if (Status measured = first ? arrays.measure_all() : arrays.measure(); !measured.ok()) {
      return measured.error();
    }
    for (const int64_t length : window) arrays.shrink(length, rate);
    first = false;
  }
  return arrays.kept();
}

}  // namespace qfs::compressors
