// LaTeX itself compiles what the writer writes: the golden tables and the nasty corpus.
#include "reports/writers/latex.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "reports/methods_text.h"
#include "tests/support/golden.h"
#include "tests/support/nasty_corpus.h"
#include "tests/support/temporary_folder.h"

namespace qfs::reports {
namespace {

Table table_with(const std::string& text) {
  Table table;
  table.name = text;
  table.description = text;
  table.row_axes = {text, text};
  table.column_axes = {text};
  table.values_level = 1;
  table.rows = {{{text, text}, true}, {{text, "plain"}, false}};
  table.columns = {{{text}, false}, {{text + text}, false}};
  table.values = {{text, text, ValueGroup::quality, 100, 2, 1},
                  {text, text, ValueGroup::quality, 100, 2, 1}};
  table.cells.resize(8);
  for (TableCell& cell : table.cells) cell.status = CellStatus::failed;
  for (TableCell& cell : table.cells) cell.detail = text;
  table.cells[0].status = CellStatus::ok;
  table.cells[0].best = true;
  table.cells[0].tested = TestedDifference{.significant = true};
  table.notes = {text, text};
  table.signature = text;
  return table;
}

/// pdflatex's last lines when it fails.
std::string compiled(const std::string& body) {
  const test::TemporaryFolder folder;
  {
    std::ofstream file(folder / "table.tex", std::ios::binary);
    file << "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
         << body << "\\end{document}\n";
  }
  const std::string command = "cd '" + folder.path() +
                              "' && pdflatex -no-shell-escape -interaction=nonstopmode "
                              "-halt-on-error table.tex </dev/null >output.txt 2>&1";
  if (std::system(command.c_str()) == 0) return "";
  const std::string output = test::file_text(folder / "output.txt").value_or("no output");
  constexpr size_t kShown = 2000;
  return output.substr(output.size() > kShown ? output.size() - kShown : 0);
}

class LatexCompiles : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("pdflatex --version >/dev/null 2>&1 && kpsewhich booktabs.sty >/dev/null") !=
        0) {
      GTEST_SKIP() << "no pdflatex with booktabs (Debian: texlive-latex-recommended)";
    }
  }
};

TEST_F(LatexCompiles, GoldenTables) {
  for (const char* name : {"paper.tex", "levels.tex", "methods.tex", "published.tex"}) {
    const auto text = test::file_text(std::string("tests/golden/reports/") + name);
    ASSERT_TRUE(text) << name;
    EXPECT_EQ(compiled(*text), "") << name;
  }
}

TEST_F(LatexCompiles, TablesOfNastyTexts) {
  std::string body;
  for (const std::string& text : test::nasty_corpus()) {
    body += write_latex(table_with(text)) + "\\clearpage\n";
    body += write_methods_latex({{text, text}, {{text, text}, {"plain", text}}});
  }
  EXPECT_EQ(compiled(body), "");
}

}  // namespace
}  // namespace qfs::reports
