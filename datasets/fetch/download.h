// Downloader: GET of one address into memory, bounded in size and time.
//
// Used by `fetch`. libcurl is opened at run time, when something is downloaded, because linking it
// would cost every start of the program several milliseconds; a machine without it gets an
// `unavailable` error that names the package and the way without a network. HTTPS with the system's
// certificates; proxies as libcurl takes them from the environment. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "harness/api/result.h"

namespace qfs::datasets {

struct DownloadLimits {
  int64_t max_bytes = 0;  ///< a longer body is an error
  std::chrono::seconds connect_timeout{15};
  std::chrono::seconds stall_timeout{30};  ///< without a byte for this long the transfer ends
  bool allow_http = false;                 ///< plain HTTP too; redirects never leave HTTP(S)
};

class Downloader {
 public:
  static Result<Downloader> open();
  Downloader(Downloader&&) noexcept;
  Downloader& operator=(Downloader&&) noexcept;
  ~Downloader();

  /// The body of `url`. `received` is called now and then with the bytes so far. Errors: `timeout`
  /// when nothing came in time, `unavailable` for every other failure of the network or the server,
  /// a body that ends early or is too long.
  Result<std::string> get(const std::string& url, const DownloadLimits& limits,
                          const std::function<void(int64_t)>& received);

 private:
  struct State;
  explicit Downloader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace qfs::datasets
