// A small driver over the store: what a sweep writes, in a sweep's order, continuing what is there.
// The crash test runs it in processes of their own and kills them. Not thread-safe; a failure of
// the store is printed and becomes the exit status.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qfs::test {

/// A train result, two predict results over `examples` examples (units of two), one of which rests
/// on it, a measure result and score jobs.
/// Returns an exit status.
int write_everything(const std::string& store_path, int64_t examples);

/// Merges the stores into the first one, in this order. Returns an exit status.
int merge_all(const std::string& destination, const std::vector<std::string>& sources);

}  // namespace qfs::test
