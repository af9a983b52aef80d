// The functions of libcurl that the program uses, found in the library when it is first needed.
//
// Called by `data fetch` and by methods that talk to servers. libcurl is opened at run time because
// linking it would cost every start of the program several milliseconds; a machine without it has
// `usable` false. Once opened it stays, with its threads and exit handlers. Thread-safe. Include it
// before anything that includes <curl/curl.h>.
#pragma once

#define CURL_DISABLE_TYPECHECK  // its checks are macros over the linked functions' names
#include <curl/curl.h>

namespace qfs {

struct CurlLibrary {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  decltype(&::curl_getdate) getdate = nullptr;
  bool usable = false;
};

const CurlLibrary& curl_library();

}  // namespace qfs
