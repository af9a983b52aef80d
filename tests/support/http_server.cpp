#include "tests/support/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace qfs::test {
namespace {

constexpr int kPollMs = 20;

void send_all(int connection, const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    ssize_t count = ::send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<size_t>(count);
  }
}

std::string head_of(const HttpAnswer& answer) {
  int64_t length = answer.declared_length >= 0 ? answer.declared_length
                                               : static_cast<int64_t>(answer.body.size());
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " Test\r\nConnection: close\r\n";
  if (!answer.location.empty()) head += "Location: " + answer.location + "\r\n";
  return head + "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

}  // namespace

HttpServer::HttpServer(std::map<std::string, HttpAnswer> answers) : answers_(std::move(answers)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || ::bind(listener_, generic, length) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, generic, &length) != 0) {
    throw std::runtime_error("cannot listen on the loopback interface");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  stopping_ = true;
  thread_.join();
  ::close(listener_);
}

std::string HttpServer::base_url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/";
}

std::vector<std::string> HttpServer::requests() const {
  std::lock_guard lock(mutex_);
  return requests_;
}

void HttpServer::serve() {
  while (!stopping_) {
    pollfd waiting{listener_, POLLIN, 0};
    if (::poll(&waiting, 1, kPollMs) <= 0) continue;
    int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    answer(connection);
    ::close(connection);
  }
}

void HttpServer::answer(int connection) {
  std::string request;
  char buffer[4096];
  while (request.find("\r\n\r\n") == std::string::npos) {
    ssize_t count = ::recv(connection, buffer, sizeof buffer, 0);
    if (count <= 0) return;
    request.append(buffer, static_cast<size_t>(count));
  }
  size_t begin = request.find(' ') + 1;
  std::string path = request.substr(begin, request.find(' ', begin) - begin);
  {
    std::lock_guard lock(mutex_);
    requests_.push_back(path);
  }
  auto found = answers_.find(path);
  HttpAnswer answer =
      found == answers_.end() ? HttpAnswer{404, "not here", -1, "", false} : found->second;
  std::string head = head_of(answer);
  if (!answer.hangs) return send_all(connection, head + answer.body);
  send_all(connection, head + answer.body.substr(0, answer.body.size() / 2));
  // Until the client gives up or the test ends.
  while (!stopping_) {
    pollfd gone{connection, POLLIN, 0};
    if (::poll(&gone, 1, kPollMs) > 0) return;
  }
}

}  // namespace qfs::test
