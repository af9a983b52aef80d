#include "methods/models/prompting/jinja/text.h"

#include <algorithm>

namespace qfs::prompting::jinja {

void Text::add_range(size_t begin, size_t end) {
  if (begin >= end) return;
  if (!plain_.empty() && plain_.back().second == begin) {
    plain_.back().second = end;
  } else {
    plain_.emplace_back(begin, end);
  }
}

Text Text::plain(std::string bytes) {
  Text text(std::move(bytes));
  text.add_range(0, text.size());
  return text;
}

Text Text::derived(std::string bytes, std::initializer_list<const Text*> sources) {
  const bool any = std::any_of(sources.begin(), sources.end(),
                               [](const Text* source) { return source->any_plain(); });
  return any ? plain(std::move(bytes)) : Text(std::move(bytes));
}

void Text::append(const Text& other) {
  const size_t offset = size();
  bytes_ += other.bytes_;
  for (const auto& [begin, end] : other.plain_) add_range(offset + begin, offset + end);
}

Text Text::part(size_t begin, size_t end) const {
  Text text(bytes_.substr(begin, end - begin));
  for (const auto& [from, to] : plain_) {
    if (to <= begin || from >= end) continue;
    text.add_range(std::max(from, begin) - begin, std::min(to, end) - begin);
  }
  return text;
}

}  // namespace qfs::prompting::jinja
