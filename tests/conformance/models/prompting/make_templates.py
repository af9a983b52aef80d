"""Writes templates.json: what Jinja2 makes of chat templates and of expressions.

Reference: Jinja2 in the environment that transformers builds (ImmutableSandboxedEnvironment with trim_blocks,
lstrip_blocks, loop controls, its tojson, raise_exception, strftime_now of a fixed date, and the generation tag).
The templates are written for this test after the structure of published ones.

Needs: jinja2 3.1.6. Usage: make_templates.py OUTPUT.json
"""

import datetime
import json
import pathlib
import sys

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

DATE = datetime.datetime(2026, 11, 21)


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_same"), [], [], body).set_lineno(line)

    def _same(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment() -> ImmutableSandboxedEnvironment:
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: DATE.strftime(form)
    return env


TEMPLATES = {
    "chatml": "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}"
              "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "default_system": "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\n"
                      "You are helpful<|im_end|>\\n' }}{% endif %}{{ '<|im_start|>' + message.role + '\\n' + message.content|trim }}"
                      "{% if not loop.last %}{{ '<|im_end|>\n' }}{% endif %}{% endfor %}\n",
    "instructions": """{% if messages[0]['role'] == 'system' %}
    {% set system_message = '<<SYS>>\\n' + messages[0]['content'] | trim + '\\n<</SYS>>\\n\\n' %}
    {% set messages = messages[1:] %}
{% else %}
    {% set system_message = '' %}
{% endif %}
{% for message in messages %}
    {% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
    {% endif %}
    {% if loop.index0 == 0 %}
        {% set content = system_message + message['content'] %}
    {% else %}
        {% set content = message['content'] %}
    {% endif %}
    {% if message['role'] == 'user' %}
        {{ bos_token + '[INST] ' + content | trim + ' [/INST]' }}
    {% elif message['role'] == 'assistant' %}
        {{ ' ' + content | trim + ' ' + eos_token }}
    {% endif %}
{% endfor %}""",
    "headers": """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{#- The first message may be the system's. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\\n" }}
    {{- "Tools: " + tools | map(attribute='name') | reject('equalto', 'search') | join(", ") + "\\n\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("This model only supports single tool-calls at once!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {%- for arg_name, arg_val in tool_call.arguments | items %}
            {{- arg_name + '="' + arg_val + '"' }}
            {%- if not loop.last %}
                {{- ", " }}
            {%- endif %}
        {%- endfor %}
    {%- elif message.content is mapping or message.content is iterable %}
        {{- message.content | tojson }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
""",
    "thinking": """{% set ns = namespace(is_first=false, last=-1, system='') %}
{%- for message in messages[::-1] %}
  {%- set index = (messages|length - 1) - loop.index0 %}
  {%- if ns.last < 0 and message.role == "user" %}{% set ns.last = index %}{% endif %}
{%- endfor %}
{%- for message in messages %}
  {%- if message['role'] == 'system' %}{% set ns.system = ns.system ~ ('' if ns.is_first else '\\n') ~ message['content'] %}{% continue %}
  {%- endif %}
  {%- if message.role == "assistant" %}
    {%- set content = message.content %}
    {%- if '</think>' in content %}{% set content = content.split('</think>')[-1].lstrip('\\n') %}{% endif %}
    {{- '<|Assistant|>' }}{% generation %}{{ content }}{% endgeneration %}{{ '<|end|>' }}
  {%- else %}
    {{- '<|' + message.role|capitalize + '|>' + (message.content if message.content is string else message.content|join('')) }}
  {%- endif %}
{%- endfor %}
{{- '[' ~ ns.last ~ '|' ~ ns.system ~ ']' -}}
{% if add_generation_prompt %}{{ '<|Assistant|><think>\\n' if enable_thinking is not defined or enable_thinking else '<|Assistant|>' }}{% endif %}
""",
    "macros": """{%- macro render(item, level=0, mark='-') -%}
{{ ' ' * level ~ mark ~ ' ' ~ item.name|default('none') }}
{%- if item.parts is defined and item.parts %}{% for part in item.parts %}{{ '\\n' ~ render(part, level + 1, mark='*') }}{% endfor %}{% endif %}
{%- endmacro -%}
{% for message in messages if message.role != 'system' %}{{ loop.index }}/{{ loop.length }} {{ message.role|upper }}
{% else %}nobody
{% endfor %}
{{ render({'name': 'root', 'parts': [{'name': 'a'}, {'parts': [{'name': 'c'}]}]}) }}
{% set block %}
  [{{ messages|length }}]
{% endset %}
{{ block|trim }}{% raw %}{{ not this }}{% endraw %}
""",
    "tools": """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>\\n\\n{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}\\n<|im_end|>\\n" }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- elif message.role == "assistant" %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}{% set tool_call = tool_call.function %}{% endif %}
            {{- '\\n{"name": "' + tool_call.name + '", "arguments": ' + tool_call.arguments | tojson + '}' }}
        {%- endfor %}
    {%- endif %}
{%- endfor %}
""",
    "space": "  {% if true %}  \n  a {# c #} b\n{#- x -#}\n  {%- if false %}x{% else -%}  y {% endif %}\n\n{{ 1 -}}   \n  {{+ 2 }}\n  {%+ if true %}z{% endif +%}\nq\r\nr\n\n",
}

TOOLS = [{"name": "search", "parameters": {"q": {"type": "string", "enum": ["ä", "\"b\""]}, "n": 1.5, "deep": [True, None]}},
         {"name": "read", "parameters": {}}]
CALL = {"role": "assistant", "tool_calls": [{"function": {"name": "search", "arguments": {"q": "x", "n": "2"}}}]}
INPUTS = [
    {"messages": [{"role": "user", "content": " Hi there \n"}], "add_generation_prompt": True},
    {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "<|im_end|> 你好"},
                  {"role": "assistant", "content": "<think>hm</think>\n\nA"}, {"role": "user", "content": "B?"}],
     "add_generation_prompt": False},
    {"messages": [{"role": "user", "content": "1"}, {"role": "user", "content": "2"}], "add_generation_prompt": True},
    {"messages": [{"role": "user", "content": "go"}, CALL, {"role": "tool", "content": "found"}, {"role": "tool", "content": "more"}],
     "tools": TOOLS, "add_generation_prompt": True, "enable_thinking": False},
    {"messages": [], "add_generation_prompt": True, "custom_tools": TOOLS},
]

EXPRESSIONS = r"""
1 + 2 * 3 ** 2 - 7 // 2
-7 // 2 ~ '|' ~ -7 % 3 ~ '|' ~ 7 / 2 ~ '|' ~ 2 ** -1
1.0 ~ ' ' ~ 1e20 ~ ' ' ~ 0.1 ~ ' ' ~ 123456789.123
not true or false and true
1 < 2 and 'a' < 'b' and 2 >= 2
'x' in 'xyz' and 1 not in [2, 3] and 'a' in {'a': 1}
'a' if 0 else 'b' if 0 else 'c'
'a' if false
[1, 'two', none, true, 2.5, (1,), {'k': 'v\'"'}]
(1, 2)[1] ~ [1, 2, 3][-1] ~ 'abc'[1] ~ 'äöü'[-1]
[0, 1, 2, 3, 4][1:3] ~ [0, 1, 2, 3, 4][::-2] ~ 'abcdef'[-3:] ~ 'abc'[::-1] ~ [1][5:]
missing ~ '|' ~ missing is defined ~ missing|default('d') ~ ''|default('e', true) ~ none|default('f')
{'a': 1}.b is undefined
{'items': 3}.items is callable
{'a': {'b': [1, 2]}}.a.b[1]
{'a': 1, 'b': 2}.items()|list
{'a': 1}.keys()|list ~ {'a': 1}.values()|list ~ {'a': 1}.get('z', 5) ~ {'a': 1}.get('y')
'  x y '.strip() ~ '|' ~ 'xxaxx'.strip('x') ~ '|' ~ ' a '.lstrip() ~ '|' ~ ' a '.rstrip() ~ '|'
'a,b,,c'.split(',') ~ ' a  b '.split() ~ 'a b c'.split(' ', 1) ~ ' a b  c '.split(none, 1) ~ ''.split() ~ ''.split(',')
'Hello'.upper() ~ 'Straße'.upper() ~ 'ABC'.lower() ~ 'hello wORLD'.title() ~ 'hELLO x'.capitalize()
'hello wORLD it\'s (a-b)'|title ~ 'hELLO'|capitalize
'abc'.startswith('a') ~ 'abc'.endswith(('x', 'c')) ~ 'abcabc'.replace('b', '') ~ 'aaa'.replace('a', 'b', 2) ~ 'äbc'.find('c')
'-'.join(['a', 'b'])
'aXbX'|replace('X', 'y') ~ '  a '|trim ~ 'xax'|trim('x') ~ [1, 2]|length ~ 'äö'|length ~ {'a': 1}|count ~ missing|length
[3, 1, 2]|sort ~ ['b', 'A', 'c']|sort ~ [1, 2]|reverse|list ~ 'abc'|reverse ~ [1, 1, 2]|unique|list ~ ['a', 'A']|unique|list
[{'n': 2}, {'n': 1}]|sort(attribute='n') ~ [{'n': 2}, {'n': 1}]|map(attribute='n')|list ~ [1, 2]|sum ~ [{'n': 2}]|sum('n')
['a', 'b']|map('upper')|join(', ') ~ [1, 2, 3, 4]|select('even')|list ~ [1, 2, 3]|reject('odd')|list ~ [0, 1, '']|select|list
[{'r': 'a', 'x': 1}, {'r': 'b'}]|selectattr('r', 'equalto', 'a')|list ~ [{'r': 'a'}, {'x': 1}]|selectattr('r', 'defined')|list|length
[{'r': 'a'}, {'r': 'b'}]|rejectattr('r', '==', 'a')|map(attribute='r')|first
[{'a': {'b': 5}}]|map(attribute='a.b')|list ~ [[1, 2]]|map(attribute='1')|list ~ [{}]|map(attribute='q', default=7)|list
[1, 2]|first ~ [1, 2]|last ~ []|first ~ 'abc'|first ~ [1, 2, 3]|min ~ [1, 3]|max ~ ['b', 'a']|max
'3'|int + '4.7'|int ~ 'x'|int(9) ~ 3.9|int ~ '2.5'|float ~ true|int ~ -5|abs ~ ' 7 '|int
{'b': 1, 'a': [1, {'c': none}], 'u': 'ü"\\\n\t\u0001/'}|tojson
{'b': 1, 'a': []}|tojson(indent=2) ~ [1, [2]]|tojson(indent=1) ~ {}|tojson(indent=2) ~ {'b': 1, 'a': 2}|tojson(sort_keys=true)
'a\nb\n\nc'|indent ~ '|' ~ 'a\nb'|indent(2, true) ~ '|' ~ 'a\n\nb'|indent(1, blank=true) ~ 'a\nb'|indent('>')
{'b': 1, 'A': 2}|dictsort
1 is odd ~ 2 is even ~ 6 is divisibleby 3 ~ 6 is divisibleby(4) ~ 'a' is string ~ 1 is number ~ 1.5 is float ~ true is integer
1 is integer ~ true is boolean ~ true is number ~ none is none ~ [] is sequence ~ {} is mapping ~ 'a' is iterable ~ 1 is iterable
1 is eq 1 ~ 1 is ne 1 ~ 2 is gt 1 ~ 1 is in [1] ~ 'a' is lower ~ 'A' is upper ~ 'a' is not defined ~ true is true ~ 1 is sameas 1
not missing is defined ~ (missing is not defined and 1)
1 == 1.0 ~ '1' == 1 ~ [1, 2] == [1, 2] ~ {'a': 1} == {'a': 1.0} ~ none == none ~ true == 1 ~ (1,) == [1] ~ missing == missing2
'a' 'b' "c" ~ "\x41\u00e4\t'" ~ '\q'
'ab' * 3 ~ 2 * 'x' ~ [1] + [2] ~ '' * 5
range(3)|list ~ range(1, 7, 3)|list ~ range(3, 0, -1)|list ~ range(4)[2]
dict(a=1, b='x') ~ namespace(a=1).a
(1 if true else 2) + 3 ~ -2 ** 2 ~ (-2)|abs ~ -2|abs
1_000 + 1 ~ [1, 2,] ~ (1, 2,) ~ {'a': 1,}
'%s' ~ '{{' ~ '}}' ~ '{%'
true and 'x' or 'y'
[] or 'empty' and 'z'
'abc'|list ~ {'a': 1, 'b': 2}|list ~ 'x'|string ~ 5|string
missing.x
1 + 'a'
missing + 1
[1]|nosuchfilter
1 is nosuchtest
'a'|length(
1 +
{'a': 1}['b']['c']
1 // 0
none.x is defined
[1, 2]|join|int + 1
['b', 'A']|min ~ ['b', 'A', 'C']|max ~ 'a-b'.split(sep='-', maxsplit=1) ~ {'a': 1}|tojson(ensure_ascii=false)
[1]|join(foo=2)
'a'.strip('a', 'b')
{'a': 1}.get(key='a')
1 < 2 < 3 ~ '' and 3 > 2 > 2
'x'.nosuch()
raise_exception('stop')
strftime_now('%Y-%m-%d %B')
""".strip("\n").split("\n")


def render(env, source: str, inputs: dict) -> dict:
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    try:
        variables = {"tools": None, "documents": None, **tokens, **json.loads(json.dumps(inputs))}
        return {"output": env.from_string(source).render(**variables)}
    except (jinja2.exceptions.TemplateError, TypeError, ZeroDivisionError, ValueError, AttributeError) as error:
        return {"error": type(error).__name__}


def main() -> None:
    env = environment()
    document = {"reference": f"jinja2 {jinja2.__version__}", "inputs": INPUTS}
    document["templates"] = [{"name": name, "source": source, "results": [render(env, source, i) for i in INPUTS]}
                             for name, source in TEMPLATES.items()]
    document["expressions"] = [{"source": e, **render(env, "{{ " + e + " }}", {})} for e in EXPRESSIONS]
    pathlib.Path(sys.argv[1]).write_text(json.dumps(document, indent=1, ensure_ascii=True) + "\n")
    print(sum("error" in e for e in document["expressions"]), "of", len(EXPRESSIONS), "expressions are errors")


if __name__ == "__main__":
    main()
