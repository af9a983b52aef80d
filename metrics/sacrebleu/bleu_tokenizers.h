// The tokenizers of sacreBLEU 2.6: 13a, zh, char, intl and none.
//
// Called by BleuMetric. Each gives the tokens of a segment as sacreBLEU's does after its trailing
// white space is cut. 13a is mteval-v13a's: a newline is a space ("-\n" nothing), four XML entities
// are undone, ASCII punctuation stands alone, period and comma unless between digits, and a hyphen
// behind a digit. zh sets characters of certain ranges apart and goes on as 13a does, without its
// entities. intl is mteval-v14's, over Unicode's categories (here ICU's, in sacreBLEU the package
// regex's; they can differ for characters newer than either). Any bytes are accepted; pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qfs::metrics {

enum class BleuTokenizer { t13a, zh, character, intl, none };

/// The name in options and signatures: "13a", "zh", "char", "intl", "none".
std::string_view to_string(BleuTokenizer tokenizer);

/// The tokens are views into `storage`, which is overwritten.
std::vector<std::string_view> bleu_tokens(BleuTokenizer tokenizer, std::string_view segment,
                                          std::string& storage);

}  // namespace qfs::metrics
