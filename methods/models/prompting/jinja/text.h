// Text of a template's values, that remembers which of its bytes came from outside the template.
//
// Used by the template interpreter: special tokens may come from the template itself and never from
// what users and documents say. Strings that were put together keep the ranges; a change that moves
// characters around makes the whole result plain as soon as a part of it was. Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qfs::prompting::jinja {

class Text {
 public:
  Text() = default;
  /// Of the template: trusted.
  explicit Text(std::string bytes) : bytes_(std::move(bytes)) {}
  /// Of a user or document.
  static Text plain(std::string bytes);
  /// `bytes`, plain if any of `sources` has a plain byte.
  static Text derived(std::string bytes, std::initializer_list<const Text*> sources);

  const std::string& bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool any_plain() const { return !plain_.empty(); }

  void append(const Text& other);
  Text part(size_t begin, size_t end) const;

  /// Calls visit(text, is_plain) for stretches of one kind, in order.
  template <class Visit>
  void for_each_stretch(Visit visit) const {
    size_t position = 0;
    for (const auto& [begin, end] : plain_) {
      if (position < begin)
        visit(std::string_view(bytes_).substr(position, begin - position), false);
      visit(std::string_view(bytes_).substr(begin, end - begin), true);
      position = end;
    }
    if (position < size()) visit(std::string_view(bytes_).substr(position), false);
  }

 private:
  void add_range(size_t begin, size_t end);

  std::string bytes_;
  std::vector<std::pair<size_t, size_t>> plain_;  ///< in order, not touching
};

}  // namespace qfs::prompting::jinja
