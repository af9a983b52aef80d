#include "methods/models/nn/input_checks.h"

#include <string>

namespace qfs::nn {

Status check_token_ids(std::span<const int32_t> ids, int64_t vocabulary) {
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocabulary) {
      return invalid_argument("token id " + std::to_string(id) + " is outside 0.." +
                              std::to_string(vocabulary - 1));
    }
  }
  return {};
}

Status check_embedded(const SequenceInput& input, int64_t hidden) {
  if (input.embedded.empty()) return {};
  if (input.shared) return invalid_argument("an input with embedded rows shares no prefix");
  int64_t free = 0;
  for (const EmbeddedRows& some : input.embedded) {
    const at::Tensor& rows = some.rows;
    if (!rows.defined() || rows.dim() != 2 || rows.size(0) < 1 || rows.size(1) != hidden) {
      return invalid_argument("embedded rows at " + std::to_string(some.at) +
                              " are no matrix of rows of the backbone's width of " +
                              std::to_string(hidden));
    }
    if (some.at < free || some.end() > static_cast<int64_t>(input.ids.size())) {
      return invalid_argument("embedded rows " + std::to_string(some.at) + ".." +
                              std::to_string(some.end() - 1) + "; expected some in " +
                              std::to_string(free) + ".." + std::to_string(input.ids.size() - 1));
    }
    free = some.end();
  }
  return {};
}

Status check_cache_size(int64_t rows, int64_t capacity, int64_t context) {
  if (rows >= 1 && capacity >= 1 && capacity <= context) return {};
  return invalid_argument("a cache of " + std::to_string(rows) + " rows of " +
                          std::to_string(capacity) + " tokens; the backbone's window has " +
                          std::to_string(context));
}

Status check_cache_row(int64_t row, size_t rows) {
  if (row >= 0 && static_cast<size_t>(row) < rows) return {};
  return internal_error("row " + std::to_string(row) + " is outside the cache");
}

Status check_logits_room(std::span<const float> logits, size_t rows, int64_t vocabulary) {
  if (logits.size() == rows * static_cast<size_t>(vocabulary)) return {};
  return internal_error("logits of another size than " + std::to_string(rows) + " rows");
}

Status check_prompt(int64_t row, std::span<const int32_t> tokens, int64_t vocabulary,
                    std::span<const int64_t> lengths, int64_t capacity) {
  if (Status in = check_cache_row(row, lengths.size()); !in.ok()) return in;
  if (Status known = check_token_ids(tokens, vocabulary); !known.ok()) return known;
  const auto count = static_cast<int64_t>(tokens.size());
  const int64_t length = lengths[static_cast<size_t>(row)];
  if (count > 0 && count <= capacity && length == 0) return {};
  return invalid_argument("a prompt of " + std::to_string(count) + " tokens for a row of " +
                          std::to_string(capacity) + " that holds " + std::to_string(length));
}

Status check_shared_adapters(const SharedPrefix& shared, const SequenceInput& input,
                             std::span<const std::shared_ptr<const Adapters>> adapters) {
  const bool inside = shared.row >= 0 && shared.row < static_cast<int64_t>(adapters.size());
  if (!inside || adapters[static_cast<size_t>(shared.row)] == input.adapters) return {};
  return invalid_argument("row " + std::to_string(shared.row) +
                          ", whose prefix is shared, has other adapters");
}

Status check_source_prompt(int64_t row, const SequenceInput& input, const SequenceShape& shape,
                           std::span<const int64_t> lengths, int64_t capacity) {
  if (Status in = check_cache_row(row, lengths.size()); !in.ok()) return in;
  if (lengths[static_cast<size_t>(row)] != 0) {
    return invalid_argument("row " + std::to_string(row) + " is in use");
  }
  if (input.shared) return invalid_argument("an encoder-decoder shares no prefixes");
  if (!input.embedded.empty()) return invalid_argument("an encoder-decoder takes no embedded rows");
  return check_decoder_ids(begun_with(input, shape), capacity, shape.vocabulary);
}

Status check_decoder_ids(std::span<const int32_t> ids, int64_t most, int64_t vocabulary) {
  const auto count = static_cast<int64_t>(ids.size());
  if (count == 0 || count > most) {
    return invalid_argument(std::to_string(count) + " decoder ids; the decoder reads 1 to " +
                            std::to_string(most));
  }
  return check_token_ids(ids, vocabulary);
}

Status check_step(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                  int64_t vocabulary, std::span<const int64_t> lengths, int64_t capacity) {
  if (rows.empty() || rows.size() != tokens.size()) {
    return internal_error("a decode step got " + std::to_string(tokens.size()) + " tokens for " +
                          std::to_string(rows.size()) + " rows");
  }
  if (Status status = check_token_ids(tokens, vocabulary); !status.ok()) return status;
  for (const int64_t row : rows) {
    if (Status status = check_cache_row(row, lengths.size()); !status.ok()) return status;
    const int64_t length = lengths[static_cast<size_t>(row)];
    if (length < 1 || length >= capacity) {
      return invalid_argument("row " + std::to_string(row) + " holds " + std::to_string(length) +
                              " of " + std::to_string(capacity) + " tokens");
    }
  }
  return {};
}

}  // namespace qfs::nn
