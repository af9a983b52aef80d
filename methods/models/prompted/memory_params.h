// What methods declare alike whose attention can have a compressive memory (nn/infini_memory.h):
// their parameters and the rules between them.
//
// Used by specs (lora) and by what prompts them; torch-free. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/method.h"

namespace qfs::prompted {

/// The flag of prompts that show the query behind the document, too.
inline constexpr const char* kRepeatQuery = "repeat_query";
/// Prompts of a batch that are read as IDEAL's release reads them: behind the shortest, by token.
inline constexpr const char* kReadTogether = "read_together";

/// With a memory `local_context` is the length of a segment, and `input_tokens` that of the
/// document.
std::vector<ParamSpec> memory_params();
/// The one of them that means something without a memory, too.
ParamSpec segment_loss_param();
/// MethodSpec::validate of them.
Status check_memory_params(const Params& params);

bool has_memory(const Params& params);

/// What is left out is as in IDEAL's release, with the preset "as_written" as in its equations.
struct MemoryForm {
  std::string rule;         ///< "delta", "linear"
  std::string alpha_scale;  ///< "head", "model"
  bool gamma_bias = true;
  bool segment_sums = false;  ///< the loss is of sums of segments' means
  /// As the release reads: learned sequences are filled up to whole segments, each of which has
  /// draws of its own, and the repeated query stands right behind the document.
  bool released = false;
};
MemoryForm memory_form(const Params& params);

/// ModelRules::check_file of them: a memory is read as the file's was trained.
Status check_memory_file(const Params& params, const Params& recipe);
/// MethodSpec::check_init of them: a file that has a memory begins a training whose memory has the
/// same form.
Status check_memory_init(const Params& params, const Params& recipe);
/// The tokens of a sequence, at most: the backbone's window, or more where `positions` asks for it;
/// 0: neither is known.
int64_t positions_of(const Params& params, const BackboneFacts& facts);
/// MethodSpec::check_backbone of them: nothing is longer than a sequence.
Status check_memory_window(const Params& params, const BackboneFacts& facts);

/// Document tokens that a method reads; nothing: all. Where they are read in windows, with a memory
/// or compressed by a "ratio", `local_context` is that of one.
std::optional<int64_t> document_budget(const Params& params);

/// Tokens of a segment where `train_segment` is left out.
inline constexpr int64_t kTrainSegment = 512;

}  // namespace qfs::prompted
