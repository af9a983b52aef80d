// Turns SIGBUS inside a mapped model file into a message that names the file and exit code 5.
//
// Called by MappedFile only. The table that the signal handler reads is process-wide, of fixed size
// and lock-free; the handler is installed with the first mapping. Thread-safe.
#pragma once

#include <cstddef>

namespace qfs::checkpoints {

/// Registers a mapping; `path` must live until release. -1 when the table is full: then a fault in
/// it ends the process without the message.
int guard_mapping(const void* begin, size_t bytes, const char* path);
void release_mapping(int guard);

}  // namespace qfs::checkpoints
