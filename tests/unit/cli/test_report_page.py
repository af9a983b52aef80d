#!/usr/bin/env python3
"""The HTML report in a browser: what it shows, that it is reached by keys, and that no text of others is HTML.

Usage: tests/unit/cli/test_report_page.py build/release/bin/qfs-bench. Needs Chromium, and says so without it.
QFS_PICTURES=FOLDER keeps pictures of every view, light, dark and narrow.
"""

import base64
import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import time
import unittest

import browser
from driver import FIELDS, DriverTest

NASTY = ["<script>document.title='read as HTML'</script>", "<img src=x onerror=document.title='read'>",
         "</script><script>document.title='out'</script>", "<!--", "]]>", "&lt;b&gt;", "\u202egnp.exe",
         "javascript:alert(1)", "\"'><b>bold</b>", "\x1b[31mred", "\u2028line", "x" * 3000]

BROKEN = """
import os, sys, qfs_method

def summarize(example, params):
    print("no such <b>model</b>", file=sys.stderr, flush=True)
    os._exit(9)

qfs_method.serve(summarize, name="broken", version=1)
"""

# Elements with text of their own whose colours have less contrast than 4.5 : 1.
FAINT = """(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] !== 0) return c; } return [255, 255, 255]; };
  return [...document.body.querySelectorAll("#page *")].filter((e) => !e.disabled && e.checkVisibility()
      && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).map((e) => {
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))];
    return [((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)).toFixed(2), e.tagName, e.className, e.textContent.slice(0, 40)];
  }).filter(([ratio]) => ratio < 4.5);
})()"""

UNNAMED = """[...document.querySelectorAll("a, button, input, select, [role=region], [role=group]")].filter((e) =>
  !(e.textContent.trim() && e.tagName !== "SELECT") && !e.labels?.length && !e.getAttribute("aria-label")).map((e) => e.outerHTML.slice(0, 80))"""


TOPICS = ["lamp", "ladder", "kettle", "garden chair", "map", "radio", "blue vase", "sewing machine"]


def record(i):
    """Eight lines on eight things; the query is about one of them."""
    lines = [f"Ann: the {topic} of number {i} was moved to shelf {(i + 3) * (j + 1) % 11}." for j, topic in enumerate(TOPICS)]
    return {"id": f"e{i}", "document": "\n".join(lines), "query": f"Where is the {TOPICS[i % 8]} of item {i}?",
            "references": [f"The {TOPICS[i % 8]} was moved to shelf {(i + 3) * (i % 8 + 1) % 11}.", f"Ann moved the {TOPICS[i % 8]}."]}


class MadePage(DriverTest):
    def make_page(self, examples=12, **members):
        self.write("data.jsonl", "".join(json.dumps(record(i)) + "\n" for i in range(examples)))
        sweep = {"name": "small", "tokenizer": "words", "methods": [{"method": "lead", "max_words": 12}, {"method": "bm25", "max_words": 12}],
                 "datasets": [{"path": "data.jsonl", "fields": FIELDS}], "grid": {"local_context": [24, 96]}, "metrics": ["rouge"],
                 "report": {"rows": ["method"], "columns": ["local_context"], "values": ["rouge1.f", "rougeL.f"]}}
        sweep.update(members)
        self.write("sweep.json", json.dumps({key: value for key, value in sweep.items() if value is not None}))
        made = self.run_bench("sweep", "sweep.json", "--quiet", "--allow-external")
        self.assertIn(made.returncode, (0, 3), made.stderr)
        self.assert_succeeds(self.run_bench("report", "--format", "html", "--output", "report.html"))



class FileTest(MadePage):
    """What the files are, without looking at them."""

    def html(self):
        with open(self.path("report.html"), encoding="utf-8") as file:
            return file.read()

    def test_the_policy_has_the_digests_of_the_one_script_and_the_one_style(self):
        self.make_page()
        html = self.html()
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html).group(1)
        self.assertEqual(policy.split("; ")[0], "default-src 'none'")
        for kind, name in (("script-src", "script"), ("style-src", "style")):
            texts = re.findall(f"<{name}>(.*?)</{name}>", html, re.DOTALL)
            self.assertEqual(len(texts), 1)
            digest = base64.b64encode(hashlib.sha256(texts[0].encode()).digest()).decode()
            self.assertIn(f"{kind} 'sha256-{digest}'", policy.split("; "))
        self.assertNotRegex(html, r"<(link|img|iframe|object|embed|base|form)\b|\bsrc=|\son[a-z]+=")

    def test_one_store_gives_one_file(self):
        self.make_page(measure={"examples": 2})
        for form, options in (("html", []), ("svg", []), ("svg", ["--figure", "front", "--values", "rouge1.f,seconds_per_example"])):
            texts = [self.assert_succeeds(self.run_bench("report", "--format", form, *options)) for _ in range(2)]
            self.assertEqual(texts[0], texts[1])

    def test_a_result_that_stands_for_several_seeds_is_there_once(self):
        self.make_page(seeds=[1, 2], methods=[{"method": "lead"}, {"method": "random"}], grid=None,
                       report={"rows": ["method", "seed"], "values": ["rouge1.f"]})
        html = self.html()
        head = json.loads(re.search('id="head">(.*?)</script>', html).group(1))
        self.assertEqual([cell["title"] for cell in head["cells"]], ["lead seed=1", "random seed=1", "random seed=2"])
        self.assertEqual(len(re.findall('id="outputs-', html)), 3)

    def test_the_logs_of_a_foreign_store_are_not_read(self):
        self.write("broken.py", BROKEN)
        self.make_page(methods=[{"method": "external", "label": "broken", "command": ["python3", "broken.py"],
                                 "fingerprint": ["broken.py"]}])
        self.assertIn("no such \\u003cb>model", self.html())
        self.assertNotIn("no such", self.assert_succeeds(self.run_bench("report", "--format", "html", "--foreign")))

    def test_a_store_does_not_say_which_files_are_logs(self):
        self.write("broken.py", BROKEN)
        self.make_page(methods=[{"method": "external", "label": "broken", "command": ["python3", "broken.py"],
                                 "fingerprint": ["broken.py"]}])
        os.makedirs(self.path(".ssh"))
        os.makedirs(self.path("theirs.logs"), exist_ok=True)
        for name in (".ssh/id_rsa", "notes.log"):
            self.write(name, "TOPSECRET")
        os.symlink(self.path("notes.log"), self.path("theirs.logs/link.log"))
        self.write("theirs.logs/own.log", "TOLD")
        for named, told in ((".ssh/id_rsa", False), ("notes.log", False), ("theirs.logs/link.log", False),
                            ("./.ssh/id_rsa", False), ("theirs.logs/own.log", True)):
            with contextlib.closing(sqlite3.connect(self.path("small.sqlite"))) as store, store:
                store.execute("UPDATE attempt SET log_path = ? WHERE state = 'failed'", (named,))
            page = self.assert_succeeds(self.run_bench("report", "--format", "html"))
            self.assertNotIn("TOPSECRET", page, named)
            self.assertEqual("TOLD" in page, told, named)

    def test_a_log_that_is_gone_is_said_to_be_without_its_folder(self):
        self.write("broken.py", BROKEN)
        self.make_page(methods=[{"method": "external", "label": "broken", "command": ["python3", "broken.py"],
                                 "fingerprint": ["broken.py"]}])
        shutil.rmtree(self.path("small.logs"))
        page = self.assert_succeeds(self.run_bench("report", "--format", "html"))
        self.assertIn("it is gone", page)
        self.assertNotIn(self.folder, page)

    def test_figures_need_a_picture_and_pictures_numbers(self):
        self.make_page(grid=None, report={"rows": ["method"], "values": ["rouge1.f"]})
        self.assert_fails(2, self.run_bench("report", "--format", "svg"), "an axis with two or more numbers", "method")
        self.assert_fails(2, self.run_bench("report", "--format", "svg", "--figure", "front"), "rouge1.f,peak_memory")
        self.assert_fails(2, self.run_bench("report", "--figure", "front"), "--figure is for --format svg")
        self.assert_fails(2, self.run_bench("report", "--format", "html", "--methods-text"), "--methods-text is prose")


@unittest.skipUnless(browser.PROGRAM, browser.MISSING)
class PageTest(MadePage):
    """Pages as a browser shows them."""

    def opened(self, fragment=""):
        window = browser.Browser().__enter__()
        self.addCleanup(window.__exit__)
        window.size(1200, 900)
        self.painted = window.open(self.path("report.html"), fragment)
        self.addCleanup(lambda: self.assertEqual(window.complaints, []))
        return window

    def example(self, name):
        return json.loads(self.assert_succeeds(self.run_bench("show", "--filter", "method=bm25,local_context=24",
                                                              "--example", name, "--json")))

    def test_a_number_leads_to_its_examples_and_on_to_one_by_keys_alone(self):
        self.make_page()
        window = self.opened()
        self.assertEqual(window.texts("h1"), ["small"])
        self.assertEqual(window.texts(".grid tbody th")[:2], ["lead", "bm25"])
        table = json.loads(self.assert_succeeds(self.run_bench("report", "--json")))
        number = table["rows"][1]["cells"][0]["values"]["rouge1.f"]["value"]
        self.assertIn(f"{100 * number:.2f}", window.texts(".grid tbody tr:nth-child(2) td:nth-child(2) a")[0])
        window.value("document.querySelector('.grid tbody tr:nth-child(2) a').focus()")
        window.press("Enter")
        self.assertEqual(window.texts("h1"), ["bm25 local_context=24"])
        self.assertEqual(len(window.texts(".list tbody tr")), 12)
        window.value("document.querySelector('.list tbody tr:nth-child(3) a').focus()")
        window.press("Enter")
        self.assertEqual(window.texts("h1"), ["e2"])
        window.press("ArrowRight")
        self.assertEqual(window.texts("h1"), ["e3"])
        window.press("ArrowLeft")
        self.assertEqual(window.texts("h1"), ["e2"])
        self.assertEqual(window.value("document.activeElement.tagName"), "H1", "who cannot see is told of the new view")
        shown = self.example("e2")
        self.assertEqual(window.texts(".prose")[0], shown["prediction"]["text"])
        self.assertIn(shown["query"], window.texts(".query"))
        window.press("Escape")
        window.press("Escape")
        self.assertEqual(window.texts("h1"), ["small"])
        self.assertEqual([r for r in window.requests if not r.startswith("file://")], [])

    def test_the_words_in_common_are_those_of_the_score(self):
        self.make_page()
        window = self.opened("#cell=2&example=4")
        scores = self.example("e4")["scores"][0]["values"]
        window.value("document.querySelectorAll('[aria-label=Reference] button')[0].click()")
        prediction, reference = "#texts .beside > :nth-child(1)", "#texts .beside > :nth-child(2)"
        words = [sum(len(text.split()) for text in window.texts(f"{side} mark.word")) for side in (prediction, reference)]
        self.assertEqual(words[0], words[1])
        self.assertGreater(words[0], 0)
        lengths = [len("".join(c if c.isalnum() else " " for c in window.texts(f"{side} .prose")[0]).split())
                   for side in (prediction, reference)]
        self.assertAlmostEqual(2 * words[0] / sum(lengths), scores["rouge1.f"], 5)
        lines = [[word for text in window.texts(f"{side} mark.line") for word in text.split()] for side in (prediction, reference)]
        self.assertEqual([w.lower() for w in lines[0]], [w.lower() for w in lines[1]])
        self.assertAlmostEqual(2 * len(lines[0]) / sum(lengths), scores["rougeL.f"], 5)

    def test_two_methods_side_by_side_the_largest_win_first(self):
        self.make_page()
        window = self.opened("#cell=3")
        window.value("(() => { const s = document.getElementById('against'); s.value = '1'; s.dispatchEvent(new Event('change')); })()")
        time.sleep(0.2)
        lines = [json.loads(line) for line in self.assert_succeeds(
            self.run_bench("report", "--per-example", "-")).splitlines()]
        score = {(l["method"], l["example"]): l["scores"]["rouge"]["rouge1.f"] for l in lines if l["params"]["local_context"] == 96}
        wins = {f"e{i}": score["bm25", f"e{i}"] - score["lead", f"e{i}"] for i in range(12)}
        keys = window.texts(".list tbody th")
        self.assertEqual(sorted(wins.values(), reverse=True), [wins[key] for key in keys])
        self.assertIn(f"{100 * max(wins.values()):+.2f}", window.texts(".difference")[0])
        better = sum(win > 0 for win in wins.values())
        self.assertIn(f"A is better in {better},", window.texts(".facts")[1])
        window.value("document.querySelector('.list tbody a').click()")
        time.sleep(0.2)
        self.assertEqual(window.texts("h1"), keys[:1])
        self.assertEqual(len(window.texts("#texts .beside")), 2)

    def test_what_was_cut_is_marked_and_the_rest_is_not(self):
        self.make_page()
        window = self.opened("#cell=0&example=1")
        truncation = self.example("e1")["truncation"]
        self.assertIn(f"{truncation['kept_tokens']} of {truncation['document_tokens']} tokens read", window.texts("h2")[-1])
        lines = record(1)["document"].split("\n")
        self.assertEqual(window.texts(".segment"), lines)
        kept = {span["segment"]: lines[span["segment"]].encode()[span["begin"]:span["end"]].decode()
                for span in self.example("e1")["truncation"]["kept"]}
        for index, line in enumerate(lines):
            cut = "".join(window.texts(f".segment:nth-child({index + 1}) del"))
            self.assertEqual(line, kept.get(index, "") + cut)

    def test_the_list_is_filtered_and_sorted(self):
        self.make_page()
        window = self.opened("#cell=2")
        window.press("/")
        self.assertEqual(window.value("document.activeElement.id"), "find")
        window.type("item 11?")
        time.sleep(0.2)
        self.assertEqual(window.texts(".list tbody th"), ["e11"])
        self.assertEqual(window.value("document.activeElement.id"), "find", "the field keeps its place")
        window.go("#cell=2")
        window.value("document.querySelector('.list thead button').click()")
        numbers = [float(text) for text in window.texts(".list tbody td:nth-child(3)")]
        self.assertEqual(numbers, sorted(numbers, reverse=True))
        window.value("document.querySelector('.list thead button').click()")
        self.assertEqual(window.value("document.querySelector('th[aria-sort]').getAttribute('aria-sort')"), "ascending")

    def test_failures_have_their_reason_and_the_end_of_their_log(self):
        self.write("broken.py", BROKEN)
        self.make_page(methods=[{"method": "lead"}, {"method": "external", "label": "broken", "command": ["python3", "broken.py"],
                                                     "fingerprint": ["broken.py"]}])
        window = self.opened()
        self.assertIn("Without a number", "".join(window.texts("h2")))
        self.assertIn("no such <b>model</b>", "".join(window.texts(".trouble")))

    def test_no_text_of_others_is_html(self):
        rows = [{"id": f"{i}{text[:200]}", "document": f"{text}\n{text}", "query": text, "references": [text, f"a {text} b"]}
                for i, text in enumerate(NASTY)]
        self.write("nasty.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        self.write("predictions.jsonl", "".join(json.dumps({"id": row["id"], "prediction": f"{row['query']} a"}) + "\n" for row in rows))
        self.make_page(methods=[{"method": "lead"}, {"method": "imported", "file": "predictions.jsonl", "label": NASTY[0]}],
                       datasets=[{"path": "nasty.jsonl", "fields": FIELDS}], description=NASTY[1],
                       report={"rows": ["method"], "values": ["rouge1.f"]}, grid=None)
        window = self.opened()
        elements = "document.querySelectorAll('#page script, #page img, #page b.foreign, #page iframe').length"
        for fragment in ["#", "#cell=1", "#cell=1&against=0"] + [f"#cell=1&against=0&example={i}" for i in range(len(NASTY))]:
            if fragment != "#":
                window.go(fragment)
            self.assertEqual(window.value(elements), 0, fragment)
            self.assertNotIn(window.value("document.title"), ("read as HTML", "read", "out"))
        for i, text in enumerate(NASTY):
            window.go(f"#cell=1&example={i}")
            self.assertEqual(window.texts(".prose")[0], f"{text} a")
            self.assertEqual(window.texts(".segment"), [text, text])

    def test_every_view_is_legible_and_every_control_has_a_name(self):
        self.make_page()
        window = self.opened()
        views = {"table": "#", "list": "#cell=2", "versus": "#cell=2&against=0", "example": "#cell=2&example=3",
                 "both": "#cell=2&against=0&example=3"}
        pictures = os.environ.get("QFS_PICTURES")
        for scheme in ("light", "dark"):
            window.scheme(scheme)
            for name, fragment in views.items():
                window.value(f"go({{}}); location.hash = {json.dumps(fragment)}")
                time.sleep(0.1)
                self.assertEqual(window.value(FAINT), [], f"{name}, {scheme}")
                self.assertEqual(window.value(UNNAMED), [], name)
                self.assertEqual(window.value("document.querySelectorAll('h1').length"), 1)
                for width in (1200, 420):
                    window.size(width, 900)
                    self.assertLessEqual(window.value("document.documentElement.scrollWidth"), width, f"{name} at {width}")
                    if pictures:
                        window.picture(os.path.join(pictures, f"{name}_{scheme}_{width}.png"), whole=True)
                window.size(1200, 900)

    def test_five_thousand_examples_are_painted_within_two_seconds(self):
        self.make_page(examples=5000, grid={"local_context": [24]})
        window = self.opened()
        self.assertLess(self.painted, 2)
        begin = time.monotonic()
        window.go("#cell=1&against=0")
        self.assertEqual(len(window.texts(".list tbody tr")), 100)
        window.go("#cell=1&example=4999")
        self.assertEqual(window.texts("h1"), ["e4999"])
        self.assertLess(time.monotonic() - begin, 2)

    def test_documents_that_the_store_does_not_keep_are_said_to_be_missing(self):
        self.make_page(store_documents=False)
        window = self.opened("#cell=0&example=1")
        self.assertEqual(len(window.texts("#texts .prose")), 2)
        self.assertEqual(window.texts(".segment"), [])
        self.assertIn("The store does not keep its text.", window.texts("p"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
