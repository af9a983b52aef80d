#include "datasets/fetch/fetch.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/sha256.h"

namespace qfs::datasets {
namespace {

namespace fs = std::filesystem;

/// Gives the bytes of one file, from wherever they come.
using FileSource = std::function<Result<std::string>(const PinnedFile&)>;

/// Counts what is done and tells the caller.
class Meter {
 public:
  Meter(const RegistryEntry& entry, const FetchOptions& options) : report_(options.progress) {
    progress_.files_total = static_cast<int64_t>(entry.files.size());
    for (const PinnedFile& file : entry.files) progress_.bytes_total += file.bytes;
  }
  void begin(const PinnedFile& file) { progress_.file = file.path; }
  void received(int64_t bytes_of_file) const {
    if (!report_) return;
    FetchProgress now = progress_;
    now.bytes_done += bytes_of_file;
    report_(now);
  }
  void done(const PinnedFile& file) {
    ++progress_.files_done;
    progress_.bytes_done += file.bytes;
    received(0);
  }

 private:
  const std::function<void(const FetchProgress&)>& report_;
  FetchProgress progress_;
};

bool is_right(const std::string& path, const PinnedFile& file) {
  std::error_code error;
  auto size = fs::file_size(path, error);
  if (error || static_cast<int64_t>(size) != file.bytes) return false;
  Result<std::string> digest = sha256_file(path);
  return digest && *digest == file.sha256;
}

Status verify(const std::string& bytes, const PinnedFile& file, const std::string& origin) {
  if (static_cast<int64_t>(bytes.size()) != file.bytes) {
    return data_error(
        "has " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(file.bytes),
        origin);
  }
  std::string digest = sha256_hex(bytes);
  if (digest == file.sha256) return {};
  return data_error("SHA-256 is " + digest + ", expected " + file.sha256, origin);
}

std::string folder_of_set(const std::string& from, const std::string& folder) {
  std::error_code ignored;
  std::string inner = from + "/" + folder;
  return fs::is_directory(inner, ignored) ? inner : from;
}

FileSource from_folder(const std::string& folder) {
  return [folder](const PinnedFile& file) {
    return read_file(folder + "/" + file.path, static_cast<uint64_t>(file.bytes) + 1);
  };
}

Result<FileSource> from_network(const std::string& base_url, const FetchOptions& options,
                                const Meter& meter) {
  Result<Downloader> opened = Downloader::open();
  if (!opened) return opened.error();
  auto downloader = std::make_shared<Downloader>(*std::move(opened));
  DownloadLimits limits;
  limits.connect_timeout = options.connect_timeout;
  limits.stall_timeout = options.stall_timeout;
  limits.allow_http = !options.base_url.empty();
  return FileSource([downloader, limits, base_url, &meter](const PinnedFile& file) mutable {
    limits.max_bytes = file.bytes;
    return downloader->get(base_url + file.path, limits,
                           [&meter](int64_t bytes) { meter.received(bytes); });
  });
}

Status store(const std::string& path, const std::string& bytes) {
  Status made = make_directories(fs::path(path).parent_path().string());
  return made ? write_file(path, bytes) : made;
}

/// Takes one file from the source, checks it and puts it under its name.
Status bring(const PinnedFile& file, const std::string& origin, const FileSource& source,
             const std::string& path) {
  Result<std::string> bytes = source(file);
  if (!bytes) return bytes.error();
  Status verified = verify(*bytes, file, origin + file.path);
  return verified ? store(path, *bytes) : verified;
}

}  // namespace

Result<FetchReport> fetch(const RegistryEntry& entry, const std::string& destination,
                          const FetchOptions& options) {
  FetchReport report;
  report.folder = destination + "/" + entry.folder();
  Meter meter(entry, options);
  std::string origin = options.base_url.empty() ? entry.base_url : options.base_url;
  std::optional<FileSource> source;
  if (!options.from_folder.empty()) {
    origin = folder_of_set(options.from_folder, entry.folder());
    source = from_folder(origin);
  }
  if (!origin.ends_with('/')) origin += '/';

  for (const PinnedFile& file : entry.files) {
    std::string path = report.folder + "/" + file.path;
    meter.begin(file);
    if (is_right(path, file)) {
      ++report.files_kept;
    } else {
      if (!source) {  // the network is needed only now
        Result<FileSource> network = from_network(origin, options, meter);
        if (!network) return network.error();
        source = *std::move(network);
      }
      Status brought = bring(file, origin, *source, path);
      if (!brought) {
        Error error = brought.error();
        error.message += "; the files of '" + entry.name + "' that are complete are kept in " +
                         report.folder + ", the same command continues";
        return error;
      }
      ++report.files_fetched;
      report.bytes_fetched += file.bytes;
    }
    meter.done(file);
  }
  return report;
}

}  // namespace qfs::datasets
