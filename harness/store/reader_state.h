// ReaderState: what a Reader holds, a read-only connection and, for a foreign store, the private
// folder with its copy. Private to reader_*.cpp. Not thread-safe; removing the folder cannot fail
// in a way a caller would notice.
#pragma once

#include "harness/store/private_copy.h"
#include "harness/store/reader.h"
#include "harness/store/sqlite.h"

namespace qfs::store {

struct ReaderState {
  TemporaryFolder folder;  // declared before the connection: removed after it is closed
  Connection db;
};

}  // namespace qfs::store
