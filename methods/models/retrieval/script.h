// Which rules find sentences and words in a text: those of languages with spaces, or the Chinese.
//
// Decided for every example by its language, or for all by the parameter `script`. Pure;
// thread-safe; cannot fail.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qfs::retrieval {

enum class Script { latin, chinese };

/// Values of the parameter `script`.
std::vector<std::string> script_names();
std::optional<Script> script_from(std::string_view name);

/// Chinese for "zh" and tags that begin with it ("zh-Hans", BCP 47); else latin.
Script script_of_language(std::string_view language);

}  // namespace qfs::retrieval
