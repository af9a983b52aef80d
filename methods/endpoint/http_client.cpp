#include "methods/endpoint/http_client.h"

#include <algorithm>
#include <ctime>
#include <string_view>

#include "harness/core/curl_library.h"
#include "harness/core/whole_number.h"

namespace qfs::endpoint {
namespace {

/// What the callbacks of one transfer share.
struct Exchange {
  HttpAnswer answer;
  bool too_long = false;
};

size_t take_body(char* data, size_t size, size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  const size_t bytes = size * count;
  if (bytes > kMaxAnswerBytes - exchange.answer.body.size()) {
    exchange.too_long = true;
    return CURL_WRITEFUNC_ERROR;
  }
  exchange.answer.body.append(data, bytes);
  return bytes;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return low(x) == low(y);
  });
}

/// Seconds, or the time until a date (RFC 9110, 10.2.3).
std::optional<double> retry_after(const std::string& value) {
  if (const auto seconds = whole_number<double>(value)) return std::max(*seconds, 0.0);
  const time_t date = curl_library().getdate(value.c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return std::max(std::difftime(date, std::time(nullptr)), 0.0);
}

size_t take_header(char* data, size_t size, size_t count, void* user) {
  auto& answer = static_cast<Exchange*>(user)->answer;
  const std::string_view line(data, size * count);
  const size_t colon = line.find(':');
  if (colon == line.npos) return line.size();
  const std::string_view name = line.substr(0, colon);
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && static_cast<unsigned char>(value.back()) <= ' ') value.remove_suffix(1);
  if (equal_ignoring_case(name, "retry-after")) {
    answer.retry_after_s = retry_after(std::string(value));
  }
  if (equal_ignoring_case(name, "location")) answer.location = value;
  return line.size();
}

/// Failures that no second try mends: a certificate, an address that cannot be.
bool is_permanent(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return true;
    default:
      return false;
  }
}

HttpFailure failure(CURLcode code, const Exchange& exchange, const std::string& reason,
                    const HttpSettings& settings) {
  if (exchange.too_long) {
    return {data_error("the server's answer is longer than " + std::to_string(kMaxAnswerBytes) +
                       " bytes"),
            false};
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return {timed_out("the server did not answer in time: " + reason), true};
  }
  std::string message = "the server cannot be asked: " + reason;
  if (code == CURLE_PEER_FAILED_VERIFICATION) {
    message += settings.ca_file.empty()
                   ? "; 'ca_file' names the certificates of a server with its own authority"
                   : "; 'ca_file' is " + settings.ca_file;
  }
  return {unavailable(std::move(message)), !is_permanent(code)};
}

}  // namespace

struct HttpClient::State {
  const HttpSettings& settings;
  const CurlLibrary& curl;
  CURL* handle = nullptr;
  curl_slist* headers = nullptr;

  ~State() {
    curl.slist_free_all(headers);
    curl.easy_cleanup(handle);
  }
};

HttpClient::HttpClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Result<HttpClient> HttpClient::open(const HttpSettings& settings) {
  const CurlLibrary& curl = curl_library();
  CURL* handle = curl.usable ? curl.easy_init() : nullptr;
  if (handle == nullptr) {
    return unavailable("libcurl cannot be loaded (Debian package libcurl4)");
  }
  auto state = std::unique_ptr<State>(new State{settings, curl, handle, nullptr});
  for (const std::string& header : settings.headers) {
    state->headers = curl.slist_append(state->headers, header.c_str());
  }
  return HttpClient(std::move(state));
}

HttpOutcome HttpClient::get(const std::string& url) { return perform(url, nullptr); }

HttpOutcome HttpClient::post(const std::string& url, const std::string& body) {
  return perform(url, &body);
}

HttpOutcome HttpClient::perform(const std::string& url, const std::string* body) {
  const CurlLibrary& curl = state_->curl;
  const HttpSettings& settings = state_->settings;
  CURL* handle = state_->handle;
  const auto milliseconds = [](double seconds) { return std::lround(seconds * 1e3); };
  Exchange exchange;
  char detail[CURL_ERROR_SIZE] = "";

  curl.easy_reset(handle);
  curl.easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl.easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl.easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl.easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl.easy_setopt(handle, CURLOPT_USERAGENT, "qfs-bench");
  curl.easy_setopt(handle, CURLOPT_HTTPHEADER, state_->headers);
  curl.easy_setopt(handle, CURLOPT_ERRORBUFFER, static_cast<char*>(detail));
  curl.easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(settings.connect_timeout_s));
  curl.easy_setopt(handle, CURLOPT_TIMEOUT_MS, milliseconds(settings.timeout_s));
  curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, &take_body);
  curl.easy_setopt(handle, CURLOPT_WRITEDATA, static_cast<void*>(&exchange));
  curl.easy_setopt(handle, CURLOPT_HEADERFUNCTION, &take_header);
  curl.easy_setopt(handle, CURLOPT_HEADERDATA, static_cast<void*>(&exchange));
  if (!settings.ca_file.empty()) {
    curl.easy_setopt(handle, CURLOPT_CAINFO, settings.ca_file.c_str());
    curl.easy_setopt(handle, CURLOPT_CAPATH, static_cast<char*>(nullptr));
  }
  if (body != nullptr) {
    curl.easy_setopt(handle, CURLOPT_POST, 1L);
    curl.easy_setopt(handle, CURLOPT_POSTFIELDS, body->data());
    curl.easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size()));
  }
  const CURLcode code = curl.easy_perform(handle);
  if (code != CURLE_OK) {
    return failure(code, exchange, *detail != '\0' ? detail : curl.easy_strerror(code), settings);
  }
  curl.easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &exchange.answer.status);
  return std::move(exchange.answer);
}

}  // namespace qfs::endpoint
