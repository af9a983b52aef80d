#include "methods/extractive/sessions.h"

#include "methods/extractive/extractive_session.h"
#include "methods/extractive/selectors.h"
#include "methods/models/retrieval/bm25.h"

namespace qfs::extractive {
namespace {

using MakeSelector = std::unique_ptr<retrieval::Selector> (*)(const SessionRequest&);

/// One plain function a method, as SessionFactory wants it.
template <MakeSelector make_selector, retrieval::PassageUnit unit>
Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  return open_extractive_session(request, cache, unit, make_selector(request));
}

}  // namespace

std::vector<SessionFactory> extractive_sessions() {
  return {
      {"lead", open<make_lead_selector, retrieval::PassageUnit::sentence>},
      {"random", open<make_random_selector, retrieval::PassageUnit::sentence>},
      {"textrank", open<make_textrank_selector, retrieval::PassageUnit::sentence>},
      {"bm25", open<retrieval::make_bm25_selector, retrieval::PassageUnit::sentence>},
      {"oracle", open<make_oracle_selector, retrieval::PassageUnit::sentence>},
      {"oracle_dyle", open<make_oracle_dyle_selector, retrieval::PassageUnit::turn>},
  };
}

}  // namespace qfs::extractive
