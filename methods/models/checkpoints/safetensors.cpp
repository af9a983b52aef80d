#include "methods/models/checkpoints/safetensors.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/models/checkpoints/mapped_file.h"
#include "methods/models/checkpoints/safetensors_header.h"

namespace qfs::checkpoints {

namespace {

constexpr size_t kMaxShards = 1000;
constexpr std::string_view kIndexSuffix = ".json";

struct Shard {
  std::shared_ptr<const MappedFile> file;
  uint64_t data_begin = 0;
  SafetensorsHeader header;
};

Result<Shard> open_shard(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file.ok()) return file.error();
  Shard shard{*file, 0, {}};
  const uint64_t size = (*file)->size_bytes();
  if (size < 8)
    return data_error("a file of " + std::to_string(size) + " bytes is too short", path);
  uint64_t length = 0;
  if (Status status = (*file)->read(0, std::as_writable_bytes(std::span(&length, 1)));
      !status.ok()) {
    return status.error();
  }
  if (length > size - 8 || length > kMaxSafetensorsHeaderBytes) {
    return data_error("the header claims " + std::to_string(length) + " bytes; the file has " +
                          std::to_string(size - 8) + " after its length, and " +
                          std::to_string(kMaxSafetensorsHeaderBytes) + " are allowed",
                      path);
  }
  std::string text(static_cast<size_t>(length), '\0');
  if (Status status = (*file)->read(8, std::as_writable_bytes(std::span(text))); !status.ok()) {
    return status.error();
  }
  shard.data_begin = 8 + length;
  Result<SafetensorsHeader> header = parse_safetensors_header(text, size - shard.data_begin, path);
  if (!header.ok()) return header.error();
  shard.header = *std::move(header);
  return shard;
}

class SafetensorsCheckpoint final : public Checkpoint {
 public:
  /// `path` of one file (no `names`), of an index or of a folder; `metadata` of all.
  SafetensorsCheckpoint(std::string path, std::vector<Shard> shards, std::vector<std::string> names,
                        std::map<std::string, std::string> metadata)
      : path_(std::move(path)), names_(std::move(names)) {
    std::vector<TensorEntry> entries;
    for (Shard& shard : shards) {
      for (SafetensorsTensor& tensor : shard.header.tensors) {
        places_.emplace(tensor.entry.name,
                        Place{shard.file.get(), shard.data_begin + tensor.begin});
        entries.push_back(std::move(tensor.entry));
      }
      files_.push_back(std::move(shard.file));
    }
    set_metadata(std::move(metadata));
    set_tensors(std::move(entries));
  }

  Status read_bytes(const TensorEntry& tensor, uint64_t first,
                    std::span<std::byte> out) const override {
    if (first > tensor.bytes || out.size() > tensor.bytes - first) {
      return internal_error("bytes outside the tensor '" + tensor.name + "'");
    }
    const Place& place = places_.at(tensor.name);
    return place.file->read(place.begin + first, out);
  }

  std::span<const std::byte> mapped_bytes(const TensorEntry& tensor) const override {
    const Place& place = places_.at(tensor.name);
    return place.file->bytes().subspan(static_cast<size_t>(place.begin),
                                       static_cast<size_t>(tensor.bytes));
  }

  const std::string& path() const override { return path_; }

  Result<std::string> digest() const override {
    if (names_.empty()) return sha256_file_cached(path_);
    const bool indexed = path_.ends_with(kIndexSuffix);
    return files_digest(indexed ? path_.substr(0, path_.find_last_of('/')) : path_, names_);
  }

 private:
  struct Place {
    const MappedFile* file;
    uint64_t begin;
  };

  std::string path_;
  /// Of the shards and the index, or of a folder's files; empty for a single file.
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::map<std::string, Place> places_;
};

/// Every tensor of the shard is in the index under this shard, and counts towards its tensors.
Status check_against_index(const Shard& shard, const std::string& name,
                           const std::map<std::string, std::string>& index, size_t& found) {
  for (const SafetensorsTensor& tensor : shard.header.tensors) {
    const auto it = index.find(tensor.entry.name);
    if (it != index.end() && it->second == name) {
      ++found;
      continue;
    }
    return data_error("tensor '" + tensor.entry.name + "' is not in the index" +
                          (it == index.end() ? "" : " under this shard but under " + it->second),
                      shard.file->path());
  }
  return {};
}

Result<std::shared_ptr<const Checkpoint>> open_sharded(const std::string& path) {
  const Result<std::string> text = read_file(path, uint64_t{64} << 20);
  if (!text.ok()) return text.error();
  const auto index = parse_safetensors_index(*text, path);
  if (!index.ok()) return index.error();
  const size_t slash = path.find_last_of('/');
  const std::string folder = slash == path.npos ? "." : path.substr(0, slash);
  std::set<std::string> names;
  for (const auto& [tensor, shard] : *index) names.insert(shard);
  if (names.size() > kMaxShards) {
    return data_error("the index names " + std::to_string(names.size()) + " shards", path);
  }
  std::vector<Shard> shards;
  size_t found = 0;
  for (const std::string& name : names) {
    Result<Shard> shard = open_shard(folder + "/" + name);
    if (!shard.ok() && shard.error().kind == ErrorKind::not_found) {
      return data_error("the index names '" + name + "', which is not there", path);
    }
    if (!shard.ok()) return shard.error();
    if (Status status = check_against_index(*shard, name, *index, found); !status.ok()) {
      return status.error();
    }
    shards.push_back(*std::move(shard));
  }
  if (found != index->size()) {
    for (const auto& [tensor, name] : *index) {
      for (size_t i = 0; const std::string& shard_name : names) {
        const auto& tensors = shards[i++].header.tensors;
        const auto has = [&](const auto& item) { return item.entry.name == tensor; };
        if (shard_name == name && std::none_of(tensors.begin(), tensors.end(), has)) {
          return data_error("tensor '" + tensor + "' of the index is not in '" + name + "'", path);
        }
      }
    }
  }
  std::vector<std::string> files(names.begin(), names.end());
  files.push_back(path.substr(slash == path.npos ? 0 : slash + 1));
  return std::shared_ptr<const Checkpoint>(std::make_shared<SafetensorsCheckpoint>(
      slash == path.npos ? "./" + path : path, std::move(shards), std::move(files),
      std::map<std::string, std::string>()));
}

Result<std::string> bytes_of(const Shard& shard, const SafetensorsTensor& tensor) {
  std::string bytes(static_cast<size_t>(tensor.entry.bytes), '\0');
  const Status read =
      shard.file->read(shard.data_begin + tensor.begin, std::as_writable_bytes(std::span(bytes)));
  if (!read.ok()) return read.error();
  return bytes;
}

/// Two tensors of one name: `data` unless they are the same.
Status check_same(const Shard& one, const SafetensorsTensor& its, const Shard& other,
                  const SafetensorsTensor& others) {
  bool same = its.entry.type == others.entry.type && its.entry.shape == others.entry.shape;
  if (same) {
    const auto left = bytes_of(one, its);
    if (!left.ok()) return left.error();
    const auto right = bytes_of(other, others);
    if (!right.ok()) return right.error();
    same = *left == *right;
  }
  if (same) return {};
  return data_error(
      "the tensor '" + its.entry.name + "' is another one in '" + other.file->path() + "'",
      one.file->path());
}

/// A tensor by the shard that has it first.
using KnownTensors = std::map<std::string, std::pair<size_t, SafetensorsTensor>>;

/// Takes out of `shard` the tensors that an earlier one has, too, and notes the others.
Status without_repeated(const std::vector<Shard>& earlier, KnownTensors& known, Shard& shard) {
  std::vector<SafetensorsTensor> own;
  for (SafetensorsTensor& tensor : shard.header.tensors) {
    const auto first = known.find(tensor.entry.name);
    if (first == known.end()) {
      known.emplace(tensor.entry.name, std::pair(earlier.size(), tensor));
      own.push_back(std::move(tensor));
      continue;
    }
    const auto& [index, same] = first->second;
    if (Status is = check_same(shard, tensor, earlier[index], same); !is.ok()) return is;
  }
  shard.header.tensors = std::move(own);
  return {};
}

Result<std::shared_ptr<const Checkpoint>> open_folder(const std::string& folder) {
  const std::vector<std::string> names = safetensors_in(folder);
  if (names.empty()) return not_found("there is no .safetensors file in '" + folder + "'");
  if (names.size() > kMaxShards) {
    return data_error("has " + std::to_string(names.size()) + " .safetensors files", folder);
  }
  std::vector<Shard> shards;
  KnownTensors known_tensors;
  std::map<std::string, std::string> metadata;
  for (const std::string& name : names) {
    Result<Shard> shard = open_shard(folder + "/" + name);
    if (!shard.ok()) return shard.error();
    if (const Status own = without_repeated(shards, known_tensors, *shard); !own.ok())
      return own.error();
    for (const auto& [key, value] : shard->header.metadata) {
      if (const auto [known, is_new] = metadata.emplace(key, value); known->second != value) {
        return data_error("its metadata '" + key + "' are not those of the files before it",
                          shard->file->path());
      }
    }
    shards.push_back(*std::move(shard));
  }
  return std::shared_ptr<const Checkpoint>(std::make_shared<SafetensorsCheckpoint>(
      folder, std::move(shards), names, std::move(metadata)));
}

}  // namespace

std::vector<std::string> safetensors_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    const bool is_one = name.ends_with(".safetensors") && !name.starts_with('.');
    if (is_one && name != kTrainingCheckpoint) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

Result<std::shared_ptr<const Checkpoint>> open_safetensors(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return open_folder(path);
  if (path.ends_with(kIndexSuffix)) return open_sharded(path);
  Result<Shard> shard = open_shard(path);
  if (!shard.ok()) return shard.error();
  std::map<std::string, std::string> metadata = std::move(shard->header.metadata);
  std::vector<Shard> shards;
  shards.push_back(*std::move(shard));
  return std::shared_ptr<const Checkpoint>(std::make_shared<SafetensorsCheckpoint>(
      path, std::move(shards), std::vector<std::string>(), std::move(metadata)));
}

}  // namespace qfs::checkpoints
