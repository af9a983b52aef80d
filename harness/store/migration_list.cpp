#include "harness/store/migration_list.h"

#include <array>

namespace qfs::store {

extern const std::string_view kMigration0001;
extern const std::string_view kMigration0002;

std::span<const Migration> migration_list() {
  static const std::array<Migration, 2> list = {
      {{1, "initial", kMigration0001}, {2, "two more ways to end", kMigration0002}}};
  return list;
}

}  // namespace qfs::store
