#include "reports/table.h"

namespace qfs::reports {

std::string_view to_string(CellStatus status) {
  switch (status) {
    case CellStatus::ok:
      return "ok";
    case CellStatus::oom:
      return "oom";
    case CellStatus::timeout:
      return "timeout";
    case CellStatus::failed:
      return "failed";
    case CellStatus::incomplete:
      return "incomplete";
    case CellStatus::not_reported:
      return "not_reported";
    case CellStatus::not_applicable:
      return "not_applicable";
    case CellStatus::absent:
      return "absent";
  }
  return "absent";
}

}  // namespace qfs::reports
