#include "harness/cli/judged_output.h"

#include <algorithm>
#include <string>
#include <utility>

#include "harness/cli/output.h"
#include "harness/core/build_info.h"
#include "reports/writers/claim_text.h"

namespace qfs::cli {

Result<size_t> print_judged(ClaimsSession& session, const claims::ShownTable& table,
                            std::string_view format, const std::string& output) {
  Result<std::vector<claims::Finding>> findings = session.evaluate(table.claims());
  if (!findings) return findings.error();
  const reports::JudgedTable judged{table, *std::move(findings),
                                    "qfs-bench v" + std::string(build_info().version),
                                    session.store_name(), session.lookups().used_places()};
  const Result<std::string> text = reports::judged_text(judged, format);
  if (!text) return text.error();
  if (Status written = write_result(*text, output); !written) return written.error();
  return static_cast<size_t>(
      std::ranges::count(judged.findings, claims::State::not_run, &claims::Finding::state));
}

}  // namespace qfs::cli
