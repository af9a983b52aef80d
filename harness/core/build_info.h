// What this binary is: version, commit, compiler, flags; generated at build time so that it also
// works outside git. Immutable; thread-safe. Link qfs_build_info (not part of qfs_core: it changes
// with every source file).
#pragma once

#include <string>
#include <string_view>

#include "harness/api/json.h"

namespace qfs {

struct BuildInfo {
  std::string_view version;   ///< "0.1.0"
  std::string_view commit;    ///< of git, with "+dirty" for a changed tree; else "unknown"
  std::string_view compiler;  ///< "g++ 12.2.0"
  std::string_view flags;
  std::string_view build_type;
  std::string_view source_digest;  ///< SHA-256 over all compiled sources
};

const BuildInfo& build_info();

/// The build facts as canonical JSON, for environment rows.
Json build_facts();

}  // namespace qfs
