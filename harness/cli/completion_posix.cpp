// bash and zsh: the tables are the same, the walk over the words is each shell's own.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/command_texts.h"

namespace qfs::cli {
namespace {

constexpr std::string_view kBashWalk = R"(
_qfs_bench() {
  local cur=${COMP_WORDS[COMP_CWORD]} command=qfs-bench kind=file option='' word
  local -i at pending=0 values
  local subcommands=() switches=() choices=()
  COMPREPLY=()
  _qfs_bench_command "$command"
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=${COMP_WORDS[at]}
    if [[ $word == '=' ]]; then
      # Of --option=value, or inside a value of the form NAME=VALUE.
      if ((pending == 0)); then
        at+=1
        if ((at >= COMP_CWORD)); then option='' kind=file pending=1; fi
      fi
    elif ((pending > 0)); then
      pending+=-1
    elif [[ $word == -- ]]; then
      subcommands=() switches=() choices=() kind=file
      break
    elif [[ $word == -* ]]; then
      option=$word
      _qfs_bench_value "$command" "$option"
      pending=$values
    elif [[ " ${subcommands[*]} " == *" $word "* ]]; then
      command+=" $word"
      _qfs_bench_command "$command"
    fi
  done
  if [[ $cur == '=' ]]; then
    cur=''
    ((pending > 0)) || { option='' kind=file pending=1; }
  fi
  if ((pending == 0)); then
    _qfs_bench_value "$command" argument
    if [[ $cur == -* ]]; then
      kind=choice choices=("${switches[@]}")
    elif ((${#subcommands[@]})); then
      kind=choice choices=("${subcommands[@]}")
    fi
  elif [[ -n $option ]]; then
    _qfs_bench_value "$command" "$option"
  fi
  case $kind in
    choice)
      for word in "${choices[@]}"; do
        if [[ $word == "$cur"* ]]; then
          printf -v word %q "$word"
          COMPREPLY+=("$word")
        fi
      done
      ;;
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
  esac
}

complete -F _qfs_bench qfs-bench
)";

constexpr std::string_view kZshWalk = R"(
_qfs_bench() {
  local command=qfs-bench kind=file option='' word
  local -i pending=0 values=0
  local -a subcommands switches choices
  _qfs_bench_command "$command"
  for word in "${(@)words[2,CURRENT-1]}"; do
    if ((pending > 0)); then
      pending+=-1
    elif [[ $word == -- ]]; then
      _files
      return
    elif [[ $word == -*=* ]]; then
      continue
    elif [[ $word == -* ]]; then
      option=$word
      _qfs_bench_value "$command" "$option"
      pending=$values
    elif (( ${subcommands[(I)$word:*]} )); then
      command+=" $word"
      _qfs_bench_command "$command"
    fi
  done
  if ((pending == 0)) && [[ ${words[CURRENT]} == --*=* ]]; then
    option=${words[CURRENT]%%=*} pending=1
    compset -P '*='
  fi
  if ((pending > 0)); then
    _qfs_bench_value "$command" "$option"
  elif [[ ${words[CURRENT]} == -* ]]; then
    _describe -o option switches
    return
  elif (( ${#subcommands} )); then
    _describe command subcommands
    return
  else
    _qfs_bench_value "$command" argument
  fi
  case $kind in
    choice) compadd -a choices ;;
    file) _files ;;
    folder) _files -/ ;;
  esac
}

if [[ $funcstack[1] == _qfs*bench ]]; then
  _qfs_bench "$@"
else
  compdef _qfs_bench qfs-bench
fi
)";

std::string_view word_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::none:
      return "none";
    case ValueKind::text:
      return "text";
    case ValueKind::file:
      return "file";
    case ValueKind::folder:
      return "folder";
    case ValueKind::choice:
      return "choice";
  }
  return "none";
}

/// As one word of a shell.
std::string quoted_for_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string quoted_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : " ") + quoted_for_shell(word);
  }
  return line;
}

std::string setting(const OptionShape& option) {
  std::string text = fmt::format("values={} kind={}", option.values, word_of(option.kind));
  if (!option.choices.empty()) text += fmt::format(" choices=({})", quoted_words(option.choices));
  return text;
}

/// The function that gives a command's words; `word_with_doc` makes one of name and summary.
template <class WordWithDoc>
std::string command_function(const CommandShape& root, const WordWithDoc& word_with_doc) {
  std::string text = "_qfs_bench_command() {\n  subcommands=() switches=()\n  case $1 in\n";
  for (const CommandShape* command : all_commands(root)) {
    std::vector<std::string> below;
    for (const CommandShape& sub : command->commands) {
      below.push_back(word_with_doc(sub.word(), sub.summary));
    }
    std::vector<std::string> options;
    for (const auto* list : {&command->options, &command->inherited}) {
      for (const OptionShape& option : *list) {
        for (const std::string& name : option.names) {
          options.push_back(word_with_doc(name, option.doc));
        }
      }
    }
    text += fmt::format("    {})\n", quoted_for_shell(command->name));
    if (!below.empty()) text += fmt::format("      subcommands=({})\n", quoted_words(below));
    text += fmt::format("      switches=({})\n      ;;\n", quoted_words(options));
  }
  return text + "  esac\n}\n";
}

std::string heading(std::string_view shell) {
  return fmt::format(
      "# Completion of qfs-bench for {}, written by 'qfs-bench completion {}': write it again "
      "rather than change it.\n\n",
      shell, shell);
}

/// The function that says what follows an option: it sets `kind` to file, folder, text or choice,
/// `values` to how many words that are, and the array `choices`.
std::string value_function(const CommandShape& root) {
  std::string text = "_qfs_bench_value() {\n  values=0 kind=none choices=()\n  case \"$1 $2\" in\n";
  std::vector<const CommandShape*> commands = all_commands(root);
  // Inner commands first: those above them say what they inherit.
  std::reverse(commands.begin(), commands.end());
  for (const CommandShape* command : commands) {
    for (const OptionShape& option : command->options) {
      if (option.kind == ValueKind::none) continue;
      std::string patterns;
      for (const std::string& name : option.names) {
        const std::string pattern =
            quoted_for_shell(command->name) + "*" + quoted_for_shell(" " + name);
        patterns += (patterns.empty() ? "" : " | ") + pattern;
      }
      text += fmt::format("    {}) {} ;;\n", patterns, setting(option));
    }
    if (command->commands.empty() && !command->arguments.empty()) {
      text += fmt::format("    {}) {} ;;\n", quoted_for_shell(command->name + " argument"),
                          setting(command->arguments.front()));
    }
  }
  return text + "    *' argument') values=1 kind=file ;;\n  esac\n}\n";
}

}  // namespace

std::string bash_completion(const CommandShape& root) {
  const auto name_only = [](const std::string& word, const std::string&) { return word; };
  return heading("bash") + command_function(root, name_only) + "\n" + value_function(root) +
         std::string(kBashWalk);
}

std::string zsh_completion(const CommandShape& root) {
  const auto described = [](const std::string& word, const std::string& doc) {
    return word + ":" + doc;
  };
  return "#compdef qfs-bench\n" + heading("zsh") + command_function(root, described) + "\n" +
         value_function(root) + std::string(kZshWalk);
}

}  // namespace qfs::cli
