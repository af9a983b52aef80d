"""A complete external method: the sentences that share most words with the query.

Run it in a sweep:
    {"method": "external", "command": ["python3", "example_method.py"],
     "fingerprint": ["example_method.py"], "max_words": 60}
or try it: qfs-bench method check python3 methods/external/example_method.py
"""

import re

import qfs_method

WORD = re.compile(r"[a-z0-9]+")


def words(text):
    return set(WORD.findall(text.lower()))


def summarize(example, params):
    wanted = words(example.query)
    sentences = [s for segment in example.segments
                 for s in re.split(r"(?<=[.!?])\s+", segment["text"]) if s]
    ranked = sorted(range(len(sentences)), key=lambda i: (-len(wanted & words(sentences[i])), i))
    chosen, used = [], 0
    for i in ranked:
        length = len(sentences[i].split())
        if used + length <= params["max_words"]:
            chosen.append(i)
            used += length
    return "\n".join(sentences[i] for i in sorted(chosen))


if __name__ == "__main__":
    qfs_method.serve(
        summarize, name="word_overlap", version=1,
        doc="sentences that share most words with the query",
        params=[qfs_method.Param("max_words", "integer", default=60, minimum=1, unit="words",
                                 doc="length of the summary")])
