// HttpServer: a server on the loopback interface that answers each path as a test says, faults
// included. One thread; one request a connection. Throws when it cannot listen.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace qfs::test {

struct HttpAnswer {
  int status = 200;
  std::string body;
  int64_t declared_length = -1;  ///< Content-Length when it shall differ from the body's
  std::string location;          ///< of a redirect
  bool hangs = false;            ///< sends the head and half the body, then nothing
};

class HttpServer {
 public:
  /// `answers`: by path with its leading '/'; any other path is a 404.
  explicit HttpServer(std::map<std::string, HttpAnswer> answers);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  /// "http://127.0.0.1:port/".
  std::string base_url() const;
  /// Paths asked for so far, in order.
  std::vector<std::string> requests() const;

 private:
  void serve();
  void answer(int connection);

  std::map<std::string, HttpAnswer> answers_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace qfs::test
