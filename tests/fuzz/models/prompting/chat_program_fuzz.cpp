// A chat template of a stranger: parsing and running it never crashes and always ends.
#include <string>
#include <vector>

#include "methods/models/prompting/chat/chat_program.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {
      "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m.content|trim }}{% if not loop.last "
      "%}\n{% endif %}{% endfor %}",
      "{%- set ns = namespace(a=1, s='') -%}{% macro f(x, y=2) %}{{ x ~ y }}{% endmacro %}{{ f(1) "
      "}}"
      "{% for i in range(3) if i is odd %}{% set ns.a = ns.a + i ** 2 // 1 %}{% continue %}{% else "
      "%}b{% endfor %}",
      "{{ messages[1:]|selectattr('role', 'equalto', 'user')|map(attribute='content')|join(', "
      "')|upper }}"
      "{{ tools|tojson(indent=2) }}{{ {'a': [1, (2,), none]}.items()|list }}{{ 'a b'.split(' ', "
      "1)[-1].strip('b') }}",
      "{# c #}{% raw %}{{ x }}{% endraw %}{% set b %}x{% endset %}{{ b|replace('x', "
      "'y')|default('z', true)|indent(2, true) }}"
      "{{ 'x' if b is defined and b not in ['a'] else raise_exception('no') }}"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto program =
      qfs::prompting::ChatProgram::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!program.ok()) return 0;
  qfs::prompting::ChatInputs inputs;
  inputs.messages = {{"system", "s"}, {"user", " <|user|> \xC3\xA9 "}, {"assistant", ""}};
  inputs.date = "2026-11-21";
  inputs.variables = R"({"tools":[{"name":"t","n":1.5}]})";
  const std::vector<std::string> specials = {"<|user|>"};
  static_cast<void>((*program)->render(inputs, specials));
  return 0;
}
