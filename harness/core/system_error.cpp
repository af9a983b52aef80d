#include "harness/core/system_error.h"

#include <cerrno>
#include <system_error>

namespace qfs {

std::string error_text(int error_number) {
  return std::generic_category().message(error_number);  // thread-safe, unlike std::strerror
}

Error read_failure(int error_number, const std::string& path) {
  const std::string message = "cannot read '" + path + "': " + error_text(error_number);
  if (error_number == ENOENT || error_number == ENOTDIR) return not_found(message);
  return data_error(message);
}

Error write_failure(int error_number, const std::string& path) {
  const std::string message = "cannot write '" + path + "': ";
  switch (error_number) {
    case ENOSPC:
      return unavailable(message + "the disk is full; free some space and run the command again");
    case EDQUOT:
      return unavailable(message +
                         "the disk quota is used up; free some space and run the command "
                         "again");
    case EFBIG:
      return unavailable(message + error_text(error_number) + " (the file size limit, ulimit -f)");
    case EROFS:
      return unavailable(message + "the file system is read-only");
    case ENOENT:
      return not_found(message + "its folder does not exist");
    case ENOTDIR:
      return not_found(message + "what should be its folder is a file");
    default:
      return unavailable(message + error_text(error_number));
  }
}

}  // namespace qfs
