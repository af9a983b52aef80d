// JSON lines of a set's file, each decoded at its place; and lists of texts inside them. What the
// readers of published sets share.
//
// Thread-safe; a line that is no JSON is a `data` error at file:line:column.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/json_access.h"
#include "datasets/readers/keyed_examples.h"
#include "datasets/readers/set_files.h"

namespace qfs::datasets {

using DecodeLine = std::function<Result<Example>(const nlohmann::json&, const JsonPlace&)>;

/// Adds what `decode` makes of every line that is not blank.
Status add_lines(SetFiles& files, const std::string& path, const DecodeLine& decode,
                 KeyedExamples& examples);

/// The same of a file that is all of a split.
Result<std::vector<Example>> read_lines(SetFiles& files, const std::string& path,
                                        const DecodeLine& decode);

/// A list of texts.
Result<std::vector<std::string>> texts_of(const nlohmann::json& list, const JsonPlace& place);
/// The member `key` as one.
Result<std::vector<std::string>> texts_member(const nlohmann::json& object, std::string_view key,
                                              const JsonPlace& place);

/// The texts as one, with `between` in between.
std::string joined(const std::vector<std::string>& texts, std::string_view between);

}  // namespace qfs::datasets
