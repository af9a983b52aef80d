#include "tests/support/random_strings.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <iterator>
#include <span>
#include <string_view>

namespace qfs::test {

namespace {

// The tables of the Python file, in UTF-8 with octal escapes.
constexpr std::string_view kWords[] = {
    "the",
    "Hello",
    "world",
    "I'm",
    "we'LL",
    "don't",
    "tokenization",
    "summary",
    "Stra\303\237e",
    "na\303\257ve",
    "\357\254\201nal",
    "\316\221\316\222\316\223",
    "\320\237\321\200\320\270\320\262\320\265\321\202",
    "\346\227\245\346\234\254\350\252\236",
    "\346\235\261\344\272\254\351\203\275",
    "\355\225\234\352\265\255\354\226\264",
    "\340\244\250\340\244\256\340\244\270\340\245\215\340\244\244\340\245\207",
    "\340\270\233\340\270\243\340\270\260\340\271\200\340\270\227\340\270\250",
    "\327\251\327\234\327\225\327\235",
    "\331\205\330\261\330\255\330\250\330\247",
    "\304\260stanbul",
    "e\314\201te\314\201",
    "x2",
    "H2O",
    "3.14",
    "1,000",
    "A_b",
    "C++",
    "foo-bar",
    "``quoted''",
    "it'\305\277",
    "\341\272\233\314\243",
    "a\314\243\314\207",
    "\355\225\234\352\270\200"};
constexpr std::string_view kSpaces[] = {
    " ",    " ",        " ",      "  ",       "   ",          "\012",         "\012\012",
    "\011", "\015\012", " \012 ", "\302\240", "\343\200\200", "\342\200\250", "\302\205",
    "\013"};
constexpr std::string_view kMarks[] = {".",
                                       ",",
                                       "!",
                                       "\077",
                                       "'",
                                       "\042",
                                       "-",
                                       "...",
                                       "(",
                                       ")",
                                       "[",
                                       "]",
                                       "#",
                                       "$",
                                       "%",
                                       "\342\200\246",
                                       "\342\200\224",
                                       "\302\253",
                                       "\343\200\202",
                                       "\343\200\201",
                                       "\302\277",
                                       "\342\226\201"};
constexpr std::string_view kSpecials[] = {"<s>",     "</s>",   "<unk>",   "<mask>",
                                          "[CLS]",   "[SEP]",  "[MASK]",  "<|endoftext|>",
                                          "<extra>", "<0x41>", "\304\240"};
constexpr std::string_view kEmoji[] = {
    "\360\237\231\202",
    "\360\237\221\251\342\200\215\360\237\221\251\342\200\215\360\237\221\247",
    "\360\237\207\251\360\237\207\252",
    "\360\237\221\215\360\237\217\275",
    "\342\235\244\357\270\217",
    "\342\200\213",
    "\342\200\215",
    "\357\273\277",
    "\357\277\275",
    "\001",
    "\177",
    std::string_view("\000", 1)};

struct Block {
  uint32_t first;
  uint32_t last;
};
constexpr Block kBlocks[] = {
    {0x20, 0x7E},       {0xA0, 0x17F},      {0x300, 0x36F},   {0x370, 0x3FF},   {0x400, 0x4FF},
    {0x590, 0x6FF},     {0x900, 0x97F},     {0xE00, 0xE7F},   {0x1100, 0x11FF}, {0x1E00, 0x1FFF},
    {0x2000, 0x206F},   {0x2070, 0x218F},   {0x2460, 0x24FF}, {0x3040, 0x30FF}, {0x3300, 0x33FF},
    {0x4E00, 0x4FFF},   {0xAC00, 0xACFF},   {0xF900, 0xFAFF}, {0xFB00, 0xFB4F}, {0xFF00, 0xFFEF},
    {0x1D400, 0x1D4FF}, {0x1F300, 0x1F64F}, {0x0, 0x2FFFF}};

class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  std::string string() {
    std::string text;
    for (uint64_t items = below(24); items > 0; --items) text += item();
    return text;
  }

 private:
  uint64_t below(uint64_t limit) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return ((state_ * 0x2545F4914F6CDD1Du) >> 32) % limit;
  }

  static bool assigned(UChar32 c) {
    UVersionInfo age;
    u_charAge(c, age);
    return age[0] <= 14 && u_charType(c) != U_UNASSIGNED && u_charType(c) != U_SURROGATE;
  }

  std::string code_point() {
    const Block& block = kBlocks[below(std::size(kBlocks))];
    while (true) {
      const auto c = static_cast<UChar32>(block.first + below(block.last - block.first + 1));
      if (!assigned(c)) continue;
      uint8_t bytes[4];
      int32_t length = 0;
      U8_APPEND_UNSAFE(bytes, length, c);
      return std::string(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
    }
  }

  std::string item() {
    const uint64_t kind = below(16);
    struct Table {
      uint64_t limit;
      std::span<const std::string_view> items;
    };
    for (const Table& table : {Table{5, kWords}, Table{9, kSpaces}, Table{11, kMarks},
                               Table{12, kSpecials}, Table{13, kEmoji}}) {
      if (kind < table.limit) return std::string(table.items[below(table.items.size())]);
    }
    if (kind == 13) return std::to_string(below(100000));
    std::string text;
    for (uint64_t count = 1 + below(3); count > 0; --count) text += code_point();
    return text;
  }

  uint64_t state_;
};

}  // namespace

std::vector<std::string> random_strings(size_t count, uint64_t seed) {
  Generator generator(seed);
  std::vector<std::string> strings;
  for (size_t i = 0; i < count; ++i) strings.push_back(generator.string());
  return strings;
}

}  // namespace qfs::test
