"""Two types of one name in one namespace are one to the linker, whatever their files think: finds them."""

import collections
import re

TOKEN = re.compile(
    r"namespace\s*(?P<namespace>[\w:]*)\s*\{"
    r"|\b(?:struct|class|enum class)\s+(?P<type>\w+)(?!\w|\s*::)(?:\s+final)?(?:\s*:\s*[^{};()]*)?\s*\{"
    r"|[{}]")
ANONYMOUS = "<anonymous>"


def without_text(source):
    """Comments and literals blanked, so that braces and words in them do not count."""
    source = re.sub(r'R"(\w*)\(.*?\)\1"', '""', source, flags=re.S)
    source = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', source)
    source = re.sub(r"'(?:\\.|[^'\\\n])'", "' '", source)
    return re.sub(r"//[^\n]*", "", source)


def types_of(source):
    """Types that a file defines outside anonymous namespaces and other types, with their namespaces."""
    scopes = []
    for match in TOKEN.finditer(without_text(source)):
        if match.group(0) == "}":
            if scopes:
                scopes.pop()
        elif match.group(0).startswith("namespace"):
            scopes.append(match.group("namespace") or ANONYMOUS)
        else:
            if match.group("type") and None not in scopes and ANONYMOUS not in scopes:
                yield "::".join([*scopes, match.group("type")])
            scopes.append(None)  # inside a type, a function or an initializer


def check_types(texts):
    places = collections.defaultdict(list)
    for path, text in texts.items():
        if path.endswith((".h", ".cpp", ".cu", ".cuh")) and not path.startswith("tests/"):
            for name in types_of(text):
                places[name].append(path)
    for name, paths in sorted(places.items()):
        if len(paths) > 1:
            yield f"{paths[1]}:1: {name} is defined in {' and in '.join(paths)}; the linker takes them for one"
