// What is written from the command tree: completion for three shells, and the manual page.
//
// Each is a pure function of the tree, so that equal trees give equal bytes and none can say what
// the program does not take. The scripts walk the words before the cursor to the command and to the
// option that waits for a value. Thread-safe.
#pragma once

#include <string>

#include "harness/cli/command_tree.h"

namespace qfs::cli {

std::string bash_completion(const CommandShape& root);
std::string zsh_completion(const CommandShape& root);
std::string fish_completion(const CommandShape& root);

/// roff with the macros of man(7); `version` stands in its foot.
std::string manual_page(const CommandShape& root, const std::string& version);

}  // namespace qfs::cli
