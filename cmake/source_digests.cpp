// Writes the .cpp behind methods::layer_sources() and family_sources() (methods/families.h):
// digests of the code that makes outputs, by layer and by family of methods.
//
// Run at build time: source_digests SOURCE_DIR OUTPUT. methods/layers.txt says which files a layer
// has. A family is a folder of methods/ (but models/) and all that its files include under
// methods/, metrics/ and harness/core/text/, directly or not; a header brings the .cpp files of its
// folder that include it: among them are those that implement it, whatever their names. Its files
// are grouped by the layers to which they belong. A digest is taken over tokens: comments, white
// space and where lines break change none. OUTPUT is rewritten only when a digest changed. Exits
// with 1 and a line on stderr for a table that names nothing.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/sha256.h"

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The tokens of C++ source, a line each. Exact where two programs may differ in meaning, except
/// that ">>" is two tokens (of templates it is) and neighbouring string literals are one.
class Tokens {
 public:
  explicit Tokens(std::string_view source) : rest_(source) {}

  std::string all() {
    while (!rest_.empty()) next();
    flush();
    return std::move(text_);
  }

 private:
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

  void next() {
    const char c = rest_.front();
    if (c == '\n') {
      if (in_directive_) emit("end of directive");
      in_directive_ = false;
      line_begins_ = true;
      rest_.remove_prefix(1);
    } else if (std::isspace(static_cast<unsigned char>(c)) || rest_.starts_with("\\\n")) {
      rest_.remove_prefix(c == '\\' ? 2 : 1);
    } else if (rest_.starts_with("//")) {
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    } else if (rest_.starts_with("/*")) {
      const size_t end = rest_.find("*/", 2);
      rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 2);
    } else {
      if (c == '#' && line_begins_) in_directive_ = true;
      line_begins_ = false;
      token();
    }
  }

  void token() {
    const char c = rest_.front();
    const bool number =
        std::isdigit(static_cast<unsigned char>(c)) ||
        (c == '.' && rest_.size() > 1 && std::isdigit(static_cast<unsigned char>(rest_[1])));
    if (number) {
      take(number_length());
    } else if (is_word(c)) {
      word();
    } else if (c == '"') {
      string();
    } else if (c == '\'') {
      take(quoted_length());
    } else {
      take(operator_length());
    }
  }

  size_t number_length() const {
    size_t length = 1;
    while (length < rest_.size()) {
      const char c = rest_[length];
      const bool sign = (c == '+' || c == '-') &&
                        std::string_view("eEpP").find(rest_[length - 1]) != std::string_view::npos;
      const bool separator = c == '\'' && length + 1 < rest_.size() && is_word(rest_[length + 1]);
      if (!is_word(c) && c != '.' && !sign && !separator) break;
      ++length;
    }
    return length;
  }

  void word() {
    size_t length = 1;
    while (length < rest_.size() && is_word(rest_[length])) ++length;
    const std::string_view name = rest_.substr(0, length);
    const bool raw = name == "R" || name == "u8R" || name == "uR" || name == "UR" || name == "LR";
    if (raw && length < rest_.size() && rest_[length] == '"') {
      const size_t open = rest_.find('(', length);
      if (open != rest_.npos) {
        const std::string close =
            ")" + std::string(rest_.substr(length + 1, open - length - 1)) + "\"";
        const size_t end = rest_.find(close, open);
        length = end == rest_.npos ? rest_.size() : end + close.size();
      }
    }
    take(length);
  }

  size_t quoted_length() const {
    size_t length = 1;
    while (length < rest_.size() && rest_[length] != rest_.front()) {
      length += rest_[length] == '\\' ? 2 : 1;
    }
    return std::min(length + 1, rest_.size());
  }

  void string() {
    const size_t length = quoted_length();
    const std::string_view literal = rest_.substr(0, length);
    if (pending_.empty()) {
      pending_ = literal;
    } else {
      pending_.pop_back();
      pending_ += literal.substr(1);
    }
    rest_.remove_prefix(length);
  }

  size_t operator_length() const {
    for (const std::string_view known :
         {"...", "<<=", "<=>", "->*", "::", "->", "++", "--", "<<", "<=", ">=", "==", "!=",
          "&&",  "||",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "##", ".*"}) {
      if (rest_.starts_with(known)) return known.size();
    }
    return 1;
  }

  void take(size_t length) {
    emit(rest_.substr(0, length));
    rest_.remove_prefix(length);
  }
  void emit(std::string_view token) {
    flush();
    text_.append(token).append("\n");
  }
  void flush() {
    if (!pending_.empty()) text_.append(std::exchange(pending_, {})).append("\n");
  }

  std::string_view rest_;
  std::string text_;
  std::string pending_;  ///< a string literal that the next one may continue
  bool line_begins_ = true;
  bool in_directive_ = false;
};

/// The files of a source tree, by path relative to it.
class Tree {
 public:
  explicit Tree(fs::path root) : root_(std::move(root)) {
    for (const char* const folder : {"methods", "metrics", "harness/core/text"}) {
      if (!fs::is_directory(root_ / folder)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(root_ / folder)) {
        const std::string ending = entry.path().extension().string();
        if (ending != ".h" && ending != ".cpp" && ending != ".cu" && ending != ".cuh") continue;
        files_.insert(entry.path().lexically_relative(root_).string());
      }
    }
    for (const std::string& path : files_) {
      for (const std::string& header : included_by(path)) {
        if (fs::path(header).parent_path() == fs::path(path).parent_path()) {
          users_[header].insert(path);
        }
      }
    }
  }

  const Names& files() const { return files_; }

  /// These files and what they rest on.
  Names closure(Names waiting) const {
    Names seen;
    while (!waiting.empty()) {
      const std::string path = waiting.extract(waiting.begin()).value();
      if (!files_.contains(path) || !seen.insert(path).second) continue;
      waiting.merge(included_by(path));
      if (const auto users = users_.find(path); users != users_.end()) {
        for (const std::string& user : users->second) {
          if (fs::path(user).extension() == ".cpp") waiting.insert(user);
        }
      }
    }
    return seen;
  }

  /// SHA-256 over lines "path, digest of its tokens".
  std::string digest(const Names& paths) const {
    qfs::Sha256 hash;
    for (const std::string& path : paths) {
      hash.update(path + " " + qfs::sha256_hex(Tokens(read_file(root_ / path)).all()) + "\n");
    }
    return hash.hex();
  }

 private:
  Names included_by(const std::string& path) const {
    Names found;
    std::istringstream lines(read_file(root_ / path));
    for (std::string line; std::getline(lines, line);) {
      const size_t hash = line.find_first_not_of(" \t");
      if (hash == line.npos || line[hash] != '#') continue;
      const size_t word = line.find_first_not_of(" \t", hash + 1);
      if (word == line.npos || line.compare(word, 7, "include") != 0) continue;
      const size_t open = line.find('"', word);
      const size_t close = line.find('"', open + 1);
      if (open != line.npos && close != line.npos) {
        found.insert(line.substr(open + 1, close - open - 1));
      }
    }
    return found;
  }

  fs::path root_;
  Names files_;
  std::map<std::string, Names> users_;  ///< of a header: files beside it that include it
};

/// methods/layers.txt: the layers of each file that is in one.
class Layers {
 public:
  Layers(const Tree& tree, const std::string& table) {
    std::istringstream lines(table);
    std::string layer;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line.substr(0, line.find('#')));
      for (std::string word; words >> word;) {
        if (word.ends_with(':')) {
          layer = word.substr(0, word.size() - 1);
        } else {
          add(tree, layer, word);
        }
      }
    }
  }

  Names of(const std::string& path) const {
    const auto found = owners_.find(path);
    return found == owners_.end() ? Names() : found->second.layers;
  }
  std::map<std::string, Names> files() const {
    std::map<std::string, Names> files;
    for (const auto& [path, owner] : owners_) {
      for (const std::string& layer : owner.layers) files[layer].insert(path);
    }
    return files;
  }

 private:
  struct Owner {
    size_t length = 0;  ///< of the entry
    Names layers;
  };

  void add(const Tree& tree, const std::string& layer, const std::string& entry) {
    bool matches = false;
    for (const std::string& path : tree.files()) {
      const bool folder = entry.ends_with('/');
      if (folder ? !path.starts_with(entry)
                 : fs::path(path).replace_extension().string() != entry) {
        continue;
      }
      matches = true;
      Owner& owner = owners_[path];
      if (entry.size() > owner.length) owner = {entry.size(), {}};
      if (entry.size() == owner.length) owner.layers.insert(layer);
    }
    if (!matches) throw std::runtime_error("methods/layers.txt: '" + entry + "' is no source");
  }

  std::map<std::string, Owner> owners_;
};

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::string family_rows(const Tree& tree, const Layers& layers) {
  std::map<std::string, Names> families;
  for (const std::string& path : tree.files()) {
    const std::string folder = fs::path(path).parent_path().string();
    if (!folder.starts_with("methods/") || folder.find('/', 8) != folder.npos) continue;
    families[folder.substr(8)].insert(path);
  }
  std::string rows;
  for (const auto& [family, files] : families) {
    if (family == "models") continue;
    std::map<std::string, Names> by_layers;
    for (const std::string& path : tree.closure(files)) {
      by_layers[joined(layers.of(path))].insert(path);
    }
    for (const auto& [names, paths] : by_layers) {
      rows += "      {\"" + family + "\", \"" + names + "\", \"" + tree.digest(paths) + "\"},\n";
    }
  }
  return rows;
}

std::string layer_rows(const Tree& tree, const Layers& layers) {
  std::string rows;
  for (const auto& [layer, paths] : layers.files()) {
    rows += "      {\"" + layer + "\", \"" + tree.digest(paths) + "\"},\n";
  }
  return rows;
}

std::string function(const std::string& row_type, const std::string& name,
                     const std::string& rows) {
  return "std::span<const " + row_type + "> " + name + "() {\n  static constexpr " + row_type +
         " kSources[] = {\n" + rows + "  };\n  return kSources;\n}\n\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const fs::path root = argv[1];
    const Tree tree(root);
    const Layers layers(tree, read_file(root / "methods" / "layers.txt"));
    const std::string text =
        "// Generated by cmake/source_digests.cpp.\n#include \"methods/families.h\"\n\n"
        "namespace qfs::methods {\n\n" +
        function("LayerSource", "layer_sources", layer_rows(tree, layers)) +
        function("FamilySource", "family_sources", family_rows(tree, layers)) +
        "}  // namespace qfs::methods\n";
    if (read_file(argv[2]) != text) std::ofstream(argv[2], std::ios::binary) << text;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "source_digests: %s\n", error.what());
    return 1;
  }
  return 0;
}
