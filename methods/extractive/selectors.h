// What each extractive method wants of a document: one function a method, whose parameters are
// those of its spec.
//
// Called when a session opens. Stateless; cannot fail.
#pragma once

#include <memory>

#include "harness/api/method.h"
#include "methods/models/retrieval/selector.h"

namespace qfs::extractive {

std::unique_ptr<retrieval::Selector> make_lead_selector(const SessionRequest& request);
std::unique_ptr<retrieval::Selector> make_random_selector(const SessionRequest& request);
std::unique_ptr<retrieval::Selector> make_textrank_selector(const SessionRequest& request);
std::unique_ptr<retrieval::Selector> make_oracle_selector(const SessionRequest& request);
std::unique_ptr<retrieval::Selector> make_oracle_dyle_selector(const SessionRequest& request);

}  // namespace qfs::extractive
