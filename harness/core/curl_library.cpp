#include "harness/core/curl_library.h"

#include <dlfcn.h>

namespace qfs {
namespace {

template <class Function>
bool bind_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

CurlLibrary open_curl_library() {
  CurlLibrary curl;
  void* library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = ::dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return curl;
  curl.usable = bind_function(library, "curl_global_init", curl.global_init) &&
                bind_function(library, "curl_easy_init", curl.easy_init) &&
                bind_function(library, "curl_easy_reset", curl.easy_reset) &&
                bind_function(library, "curl_easy_setopt", curl.easy_setopt) &&
                bind_function(library, "curl_easy_perform", curl.easy_perform) &&
                bind_function(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                bind_function(library, "curl_easy_strerror", curl.easy_strerror) &&
                bind_function(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                bind_function(library, "curl_slist_append", curl.slist_append) &&
                bind_function(library, "curl_slist_free_all", curl.slist_free_all) &&
                bind_function(library, "curl_getdate", curl.getdate) &&
                curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return curl;
}

}  // namespace

const CurlLibrary& curl_library() {
  static const CurlLibrary library = open_curl_library();
  return library;
}

}  // namespace qfs
