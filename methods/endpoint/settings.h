// Settings of `endpoint` beyond single values: address, headers, secrets and the members that are
// merged into requests; checked at plan time, completed with secrets in the host.
//
// Used by spec and session. Thread-safe except for reading the environment. Errors are
// `invalid_argument` that names the parameter; `unavailable` for a secret that is not set.
#pragma once

#include <string>
#include <vector>

#include "harness/api/params.h"
#include "harness/api/result.h"

namespace qfs::endpoint {

/// Environment variables that the parameters name.
std::vector<std::string> secret_variables(const Params& params);

/// What ranges cannot say of the parameters.
Status check_settings(const Params& params);

struct HttpSettings {
  std::vector<std::string> headers;  ///< "Name: value", secrets in place
  std::vector<std::string> secrets;  ///< values that may be shown nowhere
  std::string ca_file;
  double connect_timeout_s = 15;
  double timeout_s = 600;
};

/// Reads secrets from the environment.
Result<HttpSettings> http_settings(const Params& params);

/// base_url without a slash at its end.
std::string base_address(const Params& params);

/// Where servers tokenize: beside the version of the API, not below it.
std::string tokenize_address(const Params& params);

}  // namespace qfs::endpoint
