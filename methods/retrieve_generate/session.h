// The sessions of `retrieve_generate`: one that trains, one that writes.
//
// Opened by the tensor host. Not thread-safe. Errors: those of `zero_shot` and `lora`, of the
// retriever and its encoders: `unavailable` for one of another type than BERT.
#pragma once

#include "harness/api/method.h"

namespace qfs::retrieve_generate {

SessionFactory session_factory();

}  // namespace qfs::retrieve_generate
