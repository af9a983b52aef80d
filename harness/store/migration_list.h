// The migrations of the store's schema, oldest first: numbered SQL compiled into the program. The
// schema of version N is what migrations 1..N make of an empty database. A change of the schema is
// a new file migration_000N.cpp, listed in migration_list.cpp and pinned under tests/golden/store;
// a released one is never edited. Used by schema.h. Immutable; thread-safe.
#pragma once

#include <span>
#include <string_view>

namespace qfs::store {

struct Migration {
  int version = 0;  ///< 1, 2, 3, … without a gap
  std::string_view name;
  std::string_view sql;
};

std::span<const Migration> migration_list();

}  // namespace qfs::store
