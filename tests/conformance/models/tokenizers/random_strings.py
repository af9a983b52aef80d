"""The random strings of the tokenizer tests, equal to those of tests/support/random_strings.cpp.

Items of many kinds (words, digits, white space, punctuation, special tokens, code points of chosen
blocks and of the whole of Unicode 14) in random order; all choices come from one xorshift generator.
"""

import unicodedata

WORDS = ["the", "Hello", "world", "I'm", "we'LL", "don't", "tokenization", "summary", "Straße", "naïve", "ﬁnal", "ΑΒΓ",
         "Привет", "日本語", "東京都", "한국어", "नमस्ते", "ประเทศ", "שלום", "مرحبا", "İstanbul", "e\u0301te\u0301", "x2", "H2O",
         "3.14", "1,000", "A_b", "C++", "foo-bar", "``quoted''", "it'ſ", "\u1E9B\u0323", "a\u0323\u0307", "\uD55C\uAE00"]
SPACES = [" ", " ", " ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", " \n ", "\u00A0", "\u3000", "\u2028", "\u0085", "\u000B"]
MARKS = [".", ",", "!", "?", "'", "\"", "-", "...", "(", ")", "[", "]", "#", "$", "%", "…", "—", "«", "。", "、", "¿", "\u2581"]
SPECIALS = ["<s>", "</s>", "<unk>", "<mask>", "[CLS]", "[SEP]", "[MASK]", "<|endoftext|>", "<extra>", "<0x41>", "Ġ"]
EMOJI = ["🙂", "👩\u200D👩\u200D👧", "🇩🇪", "👍🏽", "❤\uFE0F", "\u200B", "\u200D", "\uFEFF", "\uFFFD", "\x01", "\x7F", "\x00"]
BLOCKS = [(0x20, 0x7E), (0xA0, 0x17F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x590, 0x6FF), (0x900, 0x97F),
          (0xE00, 0xE7F), (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x218F), (0x2460, 0x24FF),
          (0x3040, 0x30FF), (0x3300, 0x33FF), (0x4E00, 0x4FFF), (0xAC00, 0xACFF), (0xF900, 0xFAFF), (0xFB00, 0xFB4F),
          (0xFF00, 0xFFEF), (0x1D400, 0x1D4FF), (0x1F300, 0x1F64F), (0, 0x2FFFF)]
MASK = (1 << 64) - 1


class Generator:
    def __init__(self, seed: int) -> None:
        self.state = (seed * 0x9E3779B97F4A7C15 + 1) & MASK

    def below(self, limit: int) -> int:
        self.state ^= self.state >> 12
        self.state = (self.state ^ (self.state << 25)) & MASK
        self.state ^= self.state >> 27
        return ((self.state * 0x2545F4914F6CDD1D & MASK) >> 32) % limit

    def code_point(self) -> str:
        first, last = BLOCKS[self.below(len(BLOCKS))]
        while True:
            c = first + self.below(last - first + 1)
            if unicodedata.category(chr(c)) not in ("Cn", "Cs"):
                return chr(c)

    def item(self) -> str:
        kind = self.below(16)
        for limit, table in ((5, WORDS), (9, SPACES), (11, MARKS), (12, SPECIALS), (13, EMOJI)):
            if kind < limit:
                return table[self.below(len(table))]
        if kind == 13:
            return str(self.below(100000))
        return "".join(self.code_point() for _ in range(1 + self.below(3)))

    def string(self) -> str:
        return "".join(self.item() for _ in range(self.below(24)))


def random_strings(count: int, seed: int) -> list[str]:
    generator = Generator(seed)
    return [generator.string() for _ in range(count)]
