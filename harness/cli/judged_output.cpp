#include "harness/cli/judged_output.h"

#include <string>
#include <utility>

#include "harness/cli/output.h"
#include "harness/core/build_info.h"
#include "reports/writers/claim_text.h"

namespace qfs::cli {

Status print_judged(ClaimsSession& session, const claims::ShownTable& table,
                    std::string_view format, const std::string& output) {
  Result<std::vector<claims::Finding>> findings = session.evaluate(table.claims());
  if (!findings) return findings.error();
  const reports::JudgedTable judged{table, *std::move(findings),
                                    "qfs-bench v" + std::string(build_info().version),
                                    session.store_name(), session.lookups().used_places()};
  if (format == "markdown") return write_result(reports::judged_markdown(judged), output);
  if (format == "json") return write_result(reports::judged_json(judged), output);
  if (format == "csv") return write_result(reports::judged_csv(judged), output);
  return invalid_argument("a published table has no format '" + std::string(format) +
                          "' (valid: markdown, json, csv)");
}

}  // namespace qfs::cli
