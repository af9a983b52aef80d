// Sessions of methods that change a document and prompt a model with the result: what they write is
// told of the document as it was.
//
// Opened by egad and retrieve_generate. Not thread-safe. Errors: those of the change and of the
// session inside.
#pragma once

#include <functional>
#include <memory>

#include "harness/api/method.h"
#include "methods/models/prompting/changed_document.h"

namespace qfs::prompted {

using ChangeDocument = std::function<Result<prompting::ChangedDocument>(const Example&)>;

/// `counter` counts the document's tokens.
std::unique_ptr<MethodSession> changed_session(ChangeDocument change,
                                               std::shared_ptr<const tokenizers::Tokenizer> counter,
                                               std::unique_ptr<MethodSession> inner);

/// The same of what is trained on.
Result<TrainingData> changed_data(const ChangeDocument& change, const TrainingData& data);

}  // namespace qfs::prompted
