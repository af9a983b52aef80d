#include <set>

#include "harness/api/document_cutter.h"
#include "harness/core/files.h"
#include "harness/run/document_cutter.h"
#include "harness/run/run.h"

namespace qfs::run {

Status check_tokenizers(const plan::Plan& plan, const RunOptions& options) {
  HostLauncher launcher(options, plan.experiment.limits, cache_directory() + "/logs");
  HostPool pool(launcher, HostReuse::weights);
  std::set<std::pair<std::string, std::string>> opened;
  for (const plan::Cell& cell : plan.cells) {
    if (!cell.tokenizer || cell.tokenizer->path.empty()) continue;  // built-in ones need no file
    const Resource& tokenizer = *cell.tokenizer;
    if (!opened.emplace(tokenizer.path, tokenizer.digest).second) continue;
    plan::Cell opener = cutter_cell(cell);
    opener.params = {};
    opener.params.set(kLocalContext, int64_t{1});
    if (auto failure = pool.open(opener, launcher.runtime(opener))) {
      Error error = std::move(failure->error);
      error.message = "the tokenizer cannot be opened: " + error.to_string();
      error.where = plan.experiment.path + "#" + cell.pointer;
      return error;
    }
    pool.release();
  }
  pool.discard();
  return {};
}

}  // namespace qfs::run
