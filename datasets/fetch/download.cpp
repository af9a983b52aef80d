#include "datasets/fetch/download.h"

#include <utility>

#include "harness/core/curl_library.h"

namespace qfs::datasets {
namespace {

constexpr long kMaxRedirects = 5;

/// What the callbacks of one transfer share.
struct Transfer {
  std::string body;
  int64_t max_bytes = 0;
  bool too_long = false;
  const std::function<void(int64_t)>* received = nullptr;
};

size_t on_bytes(char* data, size_t size, size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  size_t bytes = size * count;
  if (bytes > static_cast<size_t>(transfer.max_bytes) - transfer.body.size()) {
    transfer.too_long = true;
    return CURL_WRITEFUNC_ERROR;
  }
  transfer.body.append(data, bytes);
  if (*transfer.received) (*transfer.received)(static_cast<int64_t>(transfer.body.size()));
  return bytes;
}

Error describe(const CurlLibrary& curl, CURL* handle, CURLcode code, const Transfer& transfer,
               const char* detail, const std::string& url) {
  long status = 0;
  curl.easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  if (transfer.too_long) {
    return unavailable(
        "the server sent more than the expected " + std::to_string(transfer.max_bytes) + " bytes",
        url);
  }
  std::string reason = *detail != '\0' ? detail : curl.easy_strerror(code);
  if (code == CURLE_OPERATION_TIMEDOUT) return timed_out("the server was too slow: " + reason, url);
  if (code == CURLE_HTTP_RETURNED_ERROR) {
    return unavailable("the server answered HTTP " + std::to_string(status), url);
  }
  if (code == CURLE_PARTIAL_FILE) {
    return unavailable(
        "the download ended early, after " + std::to_string(transfer.body.size()) + " bytes", url);
  }
  return unavailable("the download failed: " + reason, url);
}

}  // namespace

struct Downloader::State {
  const CurlLibrary& curl;
  CURL* handle;  // keeps connections open between files

  ~State() { curl.easy_cleanup(handle); }
};

Downloader::Downloader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Downloader::Downloader(Downloader&&) noexcept = default;
Downloader& Downloader::operator=(Downloader&&) noexcept = default;
Downloader::~Downloader() = default;

Result<Downloader> Downloader::open() {
  const CurlLibrary& curl = curl_library();
  CURL* handle = curl.usable ? curl.easy_init() : nullptr;
  if (handle == nullptr) {
    return unavailable(
        "libcurl cannot be loaded (Debian package libcurl4); without it, copy the files from a "
        "folder with --from DIR");
  }
  return Downloader(std::unique_ptr<State>(new State{curl, handle}));
}

Result<std::string> Downloader::get(const std::string& url, const DownloadLimits& limits,
                                    const std::function<void(int64_t)>& received) {
  const CurlLibrary& curl = state_->curl;
  CURL* handle = state_->handle;
  Transfer transfer;
  transfer.max_bytes = limits.max_bytes;
  transfer.received = &received;
  char detail[CURL_ERROR_SIZE] = "";
  const char* protocols = limits.allow_http ? "http,https" : "https";

  curl.easy_reset(handle);
  curl.easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl.easy_setopt(handle, CURLOPT_PROTOCOLS_STR, protocols);
  curl.easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
  curl.easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl.easy_setopt(handle, CURLOPT_MAXREDIRS, kMaxRedirects);
  curl.easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
  curl.easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl.easy_setopt(handle, CURLOPT_USERAGENT, "qfs-bench");
  curl.easy_setopt(handle, CURLOPT_ERRORBUFFER, static_cast<char*>(detail));
  curl.easy_setopt(handle, CURLOPT_CONNECTTIMEOUT,
                   static_cast<long>(limits.connect_timeout.count()));
  curl.easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl.easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(limits.stall_timeout.count()));
  curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, &on_bytes);
  curl.easy_setopt(handle, CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  CURLcode code = curl.easy_perform(handle);
  if (code != CURLE_OK) return describe(curl, handle, code, transfer, detail, url);
  return std::move(transfer.body);
}

}  // namespace qfs::datasets
