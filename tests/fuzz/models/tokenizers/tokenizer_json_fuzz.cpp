// A tokenizer.json of a stranger: making a tokenizer of it and encoding texts never crashes, and
// tokens lie inside the text.
#include <cstdlib>
#include <string>
#include <vector>

#include "harness/core/error_exception.h"
#include "methods/models/tokenizers/folders/folder_json.h"
#include "methods/models/tokenizers/pipeline/json_tokenizer.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {
      R"({"added_tokens":[{"id":3,"content":"<s>","special":true,"lstrip":true,"normalized":false}],
"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Lowercase"},{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "},{"type":"Prepend","prepend":"_"},{"type":"Strip"},{"type":"StripAccents"}]},
"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\s+|\\w+"},"behavior":"MergedWithNext","invert":false},{"type":"Digits","individual_digits":true},{"type":"ByteLevel","add_prefix_space":true}]},
"post_processor":{"type":"RobertaProcessing","sep":["</s>",3],"cls":["<s>",3]},"decoder":{"type":"ByteLevel"},
"model":{"type":"BPE","ignore_merges":true,"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}})",
      R"({"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},"decoder":{"type":"WordPiece","prefix":"##","cleanup":true},
"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":1}}],"special_tokens":{"[CLS]":{"id":"[CLS]","ids":[0],"tokens":["[CLS]"]}}},
"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"a":1,"##b":2}}})",
      R"({"normalizer":{"type":"Precompiled","precompiled_charsmap":"BAAAAAAEAABhAA=="},"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"first"},
"decoder":{"type":"Sequence","decoders":[{"type":"Metaspace"},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1}]},
"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["<unk>",0],["_a",-1.5],["b",-2],["<0x41>",-3]]}})"};
}

namespace {

void use(const qfs::Result<std::shared_ptr<const qfs::tokenizers::VocabularyTokenizer>>& made) {
  if (!made.ok()) return;
  for (const std::string text : {"ab  Ab1 <s> \xC3\xA9\xEF\xAC\x81 a'b\n", "", "\xFF\xC3 a"}) {
    try {
      const auto tokens = (*made)->encode(text);
      std::vector<int32_t> ids;
      for (const auto& token : tokens) {
        if (token.begin < 0 || token.begin > token.end ||
            token.end > static_cast<int64_t>(text.size())) {
          abort();
        }
        ids.push_back(token.id);
      }
      static_cast<void>((*made)->encode_marked(text));
      static_cast<void>((*made)->model_input(text, text));
      static_cast<void>((*made)->decode(ids));
    } catch (const qfs::ErrorException&) {
      // a regular expression that took too long
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::tokenizers;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  use(make_json_tokenizer(text, "fuzz"));
  TokenizerConfig config = {.tokenizer_class = "LlamaTokenizer"};
  config.special_texts = {"a", "<s>"};
  use(make_folder_json(text, "fuzz", config));
  return 0;
}
