#include "metrics/rouge155/xml.h"

#include <expat.h>

#include <algorithm>
#include <memory>

namespace qfs::metrics::rouge155 {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 24;  // expat counts in int

/// Builds the tree out of expat's events.
class Builder {
 public:
  Builder(XML_Parser parser, std::string name) : parser_(parser), name_(std::move(name)) {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, &start, &end);
    XML_SetCharacterDataHandler(parser, &text);
    XML_SetCommentHandler(parser, [](void* self, const XML_Char*) { of(self).in_text_ = false; });
    XML_SetProcessingInstructionHandler(
        parser, [](void* self, const XML_Char*, const XML_Char*) { of(self).in_text_ = false; });
    XML_SetStartDoctypeDeclHandler(
        parser, [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int declares) {
          if (declares != 0) of(self).fail("a document type with declarations is not read");
        });
    // With a document type that is elsewhere; without one expat finds it an error.
    XML_SetSkippedEntityHandler(parser, [](void* self, const XML_Char* name, int) {
      of(self).fail("unknown reference '&" + std::string(name) + ";'");
    });
  }

  Result<XmlElement> parse(std::string_view text) {
    size_t at = 0;
    do {
      const std::string_view piece = text.substr(at, kPieceBytes);
      at += piece.size();
      const XML_Status status = XML_Parse(parser_, piece.data(), static_cast<int>(piece.size()),
                                          at == text.size() ? XML_TRUE : XML_FALSE);
      if (status == XML_STATUS_OK) continue;
      return data_error(why_.empty() ? in_words(XML_GetErrorCode(parser_)) : why_, place());
    } while (at < text.size());
    return std::move(root_.children.front());
  }

 private:
  static Builder& of(void* self) { return *static_cast<Builder*>(self); }

  static void start(void* self, const XML_Char* name, const XML_Char** attributes) {
    of(self).open(name, attributes);
  }
  static void end(void* self, const XML_Char*) {
    of(self).open_.pop_back();
    of(self).in_text_ = false;
  }
  static void text(void* self, const XML_Char* characters, int count) {
    Builder& builder = of(self);
    std::optional<std::string>& last = builder.open_.back()->last_text;
    if (!builder.in_text_) last.emplace();
    builder.in_text_ = true;
    last->append(characters, static_cast<size_t>(count));
  }

  void open(const XML_Char* name, const XML_Char** attributes) {
    in_text_ = false;
    if (open_.size() > kMaxXmlDepth) {
      return fail("elements are nested more than " + std::to_string(kMaxXmlDepth) + " deep");
    }
    if (++elements_ > kMaxXmlElements) return fail("too many elements");
    XmlElement& element = open_.back()->children.emplace_back();
    element.name = name;
    element.line = XML_GetCurrentLineNumber(parser_);
    for (; *attributes != nullptr; attributes += 2) {
      element.attributes.emplace_back(attributes[0], attributes[1]);
    }
    open_.push_back(&element);
  }

  void fail(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    XML_StopParser(parser_, XML_FALSE);
  }

  std::string in_words(XML_Error error) const {
    std::string words = XML_ErrorString(error);
    if (error == XML_ERROR_INVALID_TOKEN) words += "; in texts '&' is &amp; and '<' is &lt;";
    const bool unclosed = error == XML_ERROR_TAG_MISMATCH || error == XML_ERROR_NO_ELEMENTS;
    if (unclosed && open_.size() > 1) {
      words += "; <" + open_.back()->name + "> of line " + std::to_string(open_.back()->line) +
               " is not closed";
    }
    return words;
  }

  std::string place() const {
    return name_ + ":" + std::to_string(XML_GetCurrentLineNumber(parser_));
  }

  XML_Parser parser_;
  std::string name_;
  std::string why_;  ///< that it was stopped
  XmlElement root_;  ///< around the document's
  std::vector<XmlElement*> open_ = {&root_};
  bool in_text_ = false;
  size_t elements_ = 0;
};

}  // namespace

const std::string* XmlElement::attribute(std::string_view name) const {
  const auto found =
      std::ranges::find(attributes, name, &std::pair<std::string, std::string>::first);
  return found == attributes.end() ? nullptr : &found->second;
}

Result<XmlElement> parse_xml(std::string_view text, const std::string& name) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate(nullptr), &XML_ParserFree);
  return Builder(parser.get(), name).parse(text);
}

}  // namespace qfs::metrics::rouge155
