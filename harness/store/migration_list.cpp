#include "harness/store/migration_list.h"

#include <array>

namespace qfs::store {

extern const std::string_view kMigration0001;

std::span<const Migration> migration_list() {
  static const std::array<Migration, 1> list = {{{1, "initial", kMigration0001}}};
  return list;
}

}  // namespace qfs::store
