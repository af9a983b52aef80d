#include "reports/writers/html.h"

#include <fmt/format.h>

#include <string_view>

#include "harness/core/sha256.h"
#include "reports/escape.h"
#include "reports/page/page_code.h"

namespace qfs::reports {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      const auto byte = i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
      group = group << 8U | byte;
    }
    for (size_t k = 0; k < 4; ++k) {
      const bool filled = i + k <= bytes.size();
      text += filled ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

std::string data_element(std::string_view id, std::string_view json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id,
                     html_json(json));
}

}  // namespace

std::string policy_digest(std::string_view text) {
  const std::string hex = sha256_hex(text);
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return "'sha256-" + base64(bytes) + "'";
}

std::string write_html(const Page& page) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; "
      "style-src {}; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>qfs-bench report</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<main id=\"page\"><noscript>This report is shown by its own script, which asks for nothing "
      "outside this file; scripts are off.</noscript></main>\n",
      policy_digest(kPageScript), policy_digest(kPageStyle), kPageStyle);
  text += data_element("head", page.head);
  text += fmt::format("<script>{}</script>\n", kPageScript);
  for (const auto& [id, json] : page.blocks) text += data_element(id, json);
  return text + "</body>\n</html>\n";
}

}  // namespace qfs::reports
