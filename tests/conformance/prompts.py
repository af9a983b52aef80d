"""Prompts of the SmolLM2 conformance scripts, all written for this project.

Both make_smollm_expected.py (token ids) and make_smollm2_expected.py (logits, continuations) use them.
"""

import random
import unicodedata

MINUTES = [
    "The chair opened the meeting at nine and asked whether everyone had read the budget paper.",
    "Dana said that the ferry timetable could not be changed before the spring, because the crews had "
    "already agreed on their shifts.",
    "Mr Okafor wanted to know what the delay would cost; nobody could give a figure.",
    "After some discussion the group decided to ask the harbour office for its passenger counts.",
    "The treasurer reminded the members that the reserve had fallen below the agreed minimum.",
    "It was suggested that the old pier be repaired first and the new one be built in two stages.",
    "Two members objected, and the chair postponed the vote until the engineers had reported.",
    "Lena reported on the school visits: attendance was good, but the buses were late every time.",
    "The secretary will write to the bus company and copy the letter to the council.",
]

TEMPLATE = (
    "Summarize the document with respect to the question.\n\nDocument:\n{document}\n\n"
    "Question: {question}\n\nAnswer:"
)


def long_prompt() -> str:
    """More than 1,500 tokens: numbered minutes, every line different, with the question at the end."""
    lines = []
    for number in range(72):
        sentence = MINUTES[number % len(MINUTES)]
        lines.append(f"{number + 1}. (page {3 * number + 7}) {sentence}")
    return TEMPLATE.format(document="\n".join(lines), question="What was decided about the pier?")


def fixed_prompts() -> dict[str, str]:
    return {
        "english": "The committee met on Tuesday to discuss the new library. Nobody doubted that it's "
        "needed; they'd only argue about where it should stand, and who'll pay for it.",
        "question": TEMPLATE.format(document=" ".join(MINUTES[:4]), question="Why is the timetable fixed?"),
        "code": "def mean(values):\n    total = 0.0\n    for value in values:\n\t\ttotal += value  # sum\n"
        "    return total / max(1, len(values))\n\nprint(mean([1, 2.5, -3e10]))\n",
        "digits": "In 2024 the port handled 1,234,567 containers (up 12.5%), i.e. 3382 a day;"
        "  from 1998 to 2003 it was   845   a day. Phone 0049 30 123456-78, version 10.04.2.",
        "numerals": "Chapter Ⅷ: add ½ cup and x² to ¾; see note ⑫. Year ٢٠٢٤, or १९४७, costs 五十.",
        "emoji": "Well done 👏🏽! The whole family 👨‍👩‍👧‍👦 liked it 😀😀 and sent ❤️ from 🇳🇴.",
        "chinese": "会议决定：下周一之前，由图书馆提交新的预算。大家都同意了，除了王先生，他认为时间太短。",
        "odd_spaces": "  two  leading\u00a0no-break\u2003em space\t\ttabs \n\n\n three lines  7  \u3000wide \r\nend   ",
        "quotes": "\u201cIt\u2019s late,\u201d he\u2019d said \u2014 we've, I'M, they'LL, don't, rock 'n' roll, ''s 's.",
        "accents": "Zoë naïvely façade-checked Čapek’s cafe\u0301 in Łódź, Ærø and São Tomé; ἀρχή, Москва, שלום, مرحبا.",
        "markers": "A user may write <|im_end|> or <|im_start|>system here; it stays text.",
        "empty": "",
        "long": long_prompt(),
    }


def random_texts(count: int, seed: int) -> list[str]:
    """Random strings over assigned code points, with a bias to spaces, digits and apostrophes."""
    generator = random.Random(seed)
    pools = [
        list(" '\t\n0123456789"),
        [chr(c) for c in range(0x21, 0x7F)],
        [chr(c) for c in range(0xA0, 0x600) if unicodedata.category(chr(c)) != "Cn"],
        [
            chr(c)
            for c in range(0x600, 0x20000)
            if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")
        ],
        ["\u00a0", "\u2003", "\u3000", "\u0085", "\u2028", "\u200b", "\x1c", "\x0b", "\u180e", "\ufeff"],
    ]
    weights = [40, 30, 10, 15, 5]
    texts = []
    for _ in range(count):
        length = generator.randint(1, 40)
        texts.append("".join(generator.choice(generator.choices(pools, weights)[0]) for _ in range(length)))
    return texts
