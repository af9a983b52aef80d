// GateMap: how DYLE's gate weighs the snippets at every step of a text, with the extractor's
// weights of the same snippets beside it (Mao et al. 2022, figure 4).
//
// Made by the session that writes. Pure; thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "methods/dyle/session_model.h"

namespace qfs::dyle {

/// A text that the generator has written as a target: its decoder begins with `start`; `written` is
/// not empty, and holds the token that ended it.
Target written_target(const std::vector<int32_t>& start, const std::vector<int32_t>& written);

/// The members "gate" [T][K], of every labelled position of a target the softmax over the snippets,
/// and "extractor" [K], that of their scores, 0 of copies; as they stand in an output's `extra`, in
/// ten thousandths. Errors as read_target.
Result<std::string> gate_json(const nn::Decoder& decoder, const DyleTensors& tensors,
                              const GeneratorRows& rows, const Target& target,
                              const at::Tensor& scores, const Selection& selection);

}  // namespace qfs::dyle
