// Strings that break sinks that do not escape: markup, formulas, control sequences, ill-placed
// quotes, long words. One corpus for every writer, terminal and JSON included. Immutable.
#pragma once

#include <string>
#include <vector>

namespace qfs::test {

inline std::vector<std::string> nasty_corpus() {
  return {
      "",
      " ",
      "=cmd|' /C calc'!A0",
      "+1+2",
      "-2+3",
      "@SUM(A1:A9)",
      "\tindented",
      "\rreturn",
      "two\nlines\n\n# heading",
      "| pipe | in | a | table |",
      "|---|",
      "\\| already escaped \\",
      "**bold** _under_ __strong__ ~~gone~~ `code` ``two`` ```three```",
      "a_b_c snake_case __init__",
      "[link](javascript:alert(1)) ![image](http://x/y.png)",
      "<script>alert(1)</script><img src=x onerror=alert(1)>",
      "&lt;b&gt; &amp; &#60;",
      "</code></pre><!-- --> <![CDATA[ ]]>",
      "https://example.org/?a=1&b=2 www.example.org user@example.org",
      "quote \" and ' and , and ; and \"\"",
      "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b"
      "31m",
      std::string("nul\0inside", 10),
      "\xe2\x80\xaegnp.exe\xe2\x80\xac bidi override",
      "\xc2\x9b"
      "31m C1 control",
      "\xe4\xbc\x9a\xe8\xae\xae \xf0\x9f\x98\x80 e\xcc\x81",
      "::error file=x::workflow command",
      "%0A%0D",
      "$x^2$ $$y$$",
      "- item",
      "1. item",
      "> quote",
      std::string(5000, 'x'),
  };
}

}  // namespace qfs::test
