#include "methods/models/ranking/packing.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace qfs::ranking {

namespace {

std::vector<int32_t> block_of(std::span<const int32_t> text, const PackOptions& options) {
  std::vector<int32_t> block = options.before;
  block.insert(block.end(), text.begin(), text.end());
  block.insert(block.end(), options.after.begin(), options.after.end());
  return block;
}

Reading reading_of(PackedPart part, std::span<const int64_t> targets) {
  Reading reading{std::move(part), {}};
  const std::vector<int64_t>& snippets = reading.part.snippets;
  for (const int64_t i : targets) {
    const auto found = std::ranges::lower_bound(snippets, i);
    if (found != snippets.end() && *found == i) reading.targets.push_back(found - snippets.begin());
  }
  return reading;
}

}  // namespace

Result<PackedSnippets> pack_snippets(std::span<const int32_t> query,
                                     std::span<const std::vector<int32_t>> snippets,
                                     const PackOptions& options) {
  PackedSnippets packed;
  packed.query = block_of(query, options);
  const auto most = static_cast<size_t>(options.chunk_tokens);
  if (!options.query_apart && packed.query.size() >= most) {
    return invalid_argument("a query of " + std::to_string(query.size()) +
                            " tokens leaves no room for snippets in a chunk of " +
                            std::to_string(most) + "; raise 'chunk_tokens'");
  }
  const std::vector<int32_t> head = options.query_apart ? std::vector<int32_t>() : packed.query;
  packed.chunk_tokens = options.chunk_tokens;
  packed.query_tokens = std::ssize(head);
  packed.chunks.push_back(head);
  for (const std::vector<int32_t>& snippet : snippets) {
    std::vector<int32_t> block = block_of(snippet, options);
    const bool alone = packed.chunks.back().size() == head.size();
    if (packed.chunks.back().size() + block.size() > most && !alone) {
      if (static_cast<int64_t>(packed.chunks.size()) == options.max_chunks) break;
      packed.chunks.push_back(head);
    }
    std::vector<int32_t>& chunk = packed.chunks.back();
    if (chunk.size() + block.size() > most) {
      block.resize(most - chunk.size());
      ++packed.cut;
    }
    chunk.insert(chunk.end(), block.begin(), block.end());
    packed.positions.push_back(
        static_cast<int64_t>((packed.chunks.size() - 1) * most + chunk.size() - 1));
  }
  packed.unseen = static_cast<int64_t>(snippets.size()) - packed.visible();
  if (options.padding) {
    for (std::vector<int32_t>& chunk : packed.chunks) chunk.resize(most, *options.padding);
  }
  return packed;
}

int64_t PackedSnippets::tokens() const {
  size_t count = query_tokens == 0 ? query.size() : 0;
  for (const std::vector<int32_t>& chunk : chunks) count += chunk.size();
  return static_cast<int64_t>(count);
}

PackedPart drawn_part(const PackedSnippets& whole, std::span<const int64_t> wanted,
                      const ChunkDraw& draw, Rng rng) {
  const auto chunk_of = [&](int64_t snippet) {
    return whole.positions[static_cast<size_t>(snippet)] / whole.chunk_tokens;
  };
  std::vector<int64_t> chunks(whole.chunks.size());
  std::iota(chunks.begin(), chunks.end(), 0);
  rng.shuffle(chunks);
  const auto others = std::ranges::stable_partition(
      chunks, [&](int64_t chunk) { return std::ranges::count(wanted, chunk, chunk_of) > 0; });
  const auto count = std::min(std::ssize(chunks), static_cast<std::ptrdiff_t>(draw.chunks));
  const auto spare = std::max(count - std::ssize(others), static_cast<std::ptrdiff_t>(draw.wanted));
  chunks.erase(chunks.begin() + std::min(spare, others.begin() - chunks.begin()), others.begin());
  chunks.resize(static_cast<size_t>(count));
  std::ranges::sort(chunks);
  PackedPart part;
  part.packed.chunk_tokens = whole.chunk_tokens;
  part.packed.query = whole.query;
  part.packed.query_tokens = whole.query_tokens;
  for (const int64_t chunk : chunks) {
    part.packed.chunks.push_back(whole.chunks[static_cast<size_t>(chunk)]);
  }
  for (int64_t i = 0; i < whole.visible(); ++i) {
    const auto found = std::ranges::find(chunks, chunk_of(i));
    if (found == chunks.end()) continue;
    const int64_t place = whole.positions[static_cast<size_t>(i)] % whole.chunk_tokens;
    part.packed.positions.push_back((found - chunks.begin()) * whole.chunk_tokens + place);
    part.snippets.push_back(i);
  }
  return part;
}

Reading whole_reading(const PackedSnippets& whole, std::span<const int64_t> targets) {
  std::vector<int64_t> all(static_cast<size_t>(whole.visible()));
  std::iota(all.begin(), all.end(), 0);
  return reading_of({whole, std::move(all)}, targets);
}

Reading drawn_reading(const PackedSnippets& whole, std::span<const int64_t> targets,
                      const ChunkDraw& draw, Rng rng) {
  return reading_of(drawn_part(whole, targets, draw, std::move(rng)), targets);
}

}  // namespace qfs::ranking
