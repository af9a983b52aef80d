// One example: the query, each prediction beside a reference with what they have in common, the
// scores, and the document with what was read, what was cut and where the evidence is.

const MARKS = {
  words: ["word", "common word"],
  pairs: ["pair", "common pair of words"],
  lines: ["line", "longest common subsequence"],
};
const shownMarks = { words: true, pairs: true, lines: true };
let chosenReference; // its number; chosen anew for another example

/** Runs [length, bits, …] of a text as marked nodes. */
function markedText(text, runs) {
  const nodes = [];
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const part = text.slice(at, at + runs[i]);
    const classes = ["word", "pair", "line"].filter((_, bit) => runs[i + 1] & (1 << bit)).join(" ");
    nodes.push(classes ? make("mark", { class: classes }, part) : part);
    at += runs[i];
  }
  return [...nodes, text.slice(at)];
}

function prose(text, runs, language) {
  if (text.trim() === "") {
    return make("div", { class: "prose none" }, text === "" ? "empty" : "white space alone");
  }
  const nodes = runs ? markedText(text, runs) : text;
  return make("div", { class: "prose", dir: "auto", lang: language || undefined }, nodes);
}

/** The reference that an output has most in common with. */
function closestReference(output) {
  let [best, most] = [0, -1];
  (output?.marks ?? []).forEach(([, runs], index) => {
    let common = 0;
    for (let i = 0; i < runs.length; i += 2) if (runs[i + 1] & 4) common += runs[i];
    if (common > most) [best, most] = [index, common];
  });
  return best;
}

function outputFacts(output) {
  const facts = [];
  if (output.finish !== "stop") facts.push(`ended by ${output.finish}`);
  if (output.tokens_in) facts.push(`${grouped(output.tokens_in)} tokens read`);
  if (output.tokens_out) facts.push(`${grouped(output.tokens_out)} tokens written`);
  return facts.length ? make("p", { class: "facts" }, facts.join(", ")) : "";
}

function predictionPart(number, letter, position, texts) {
  const output = outputOf(number, position);
  const changed = output?.scored !== undefined;
  const title = [letter ? `${letter}: ` : "", foreign(head.cells[number].title)];
  if (!output) return make("div", {}, make("h3", {}, title), make("p", {}, "no output"));
  return make(
    "div",
    {},
    make("h3", {}, title, changed ? ", as scored" : ""),
    prose(output.scored ?? output.text, output.marks?.[chosenReference]?.[0], texts?.language),
    outputFacts(output),
    changed &&
      make(
        "details",
        {},
        make("summary", { class: "facts" }, "as it was written"),
        prose(output.text, undefined, texts?.language),
      ),
  );
}

function referencePart(number, position, texts) {
  const reference = texts?.references?.[chosenReference];
  if (reference === undefined) return make("div");
  const output = outputOf(number, position);
  const scored = output?.references?.[chosenReference];
  const name = texts.references.length > 1 ? `reference ${chosenReference + 1}` : "reference";
  return make(
    "div",
    {},
    make("h3", {}, name, scored === undefined ? "" : ", as scored"),
    prose(scored ?? reference, output?.marks?.[chosenReference]?.[1], texts.language),
  );
}

/** Prediction | reference, a row for each cell. */
function besideSections(state, position, texts) {
  const both = state.against !== undefined;
  const section = (number, letter) =>
    make(
      "section",
      { class: "beside" },
      predictionPart(number, letter, position, texts),
      referencePart(number, position, texts),
    );
  return [section(state.cell, both ? "A" : ""), both && section(state.against, "B")];
}

function markToggles(state) {
  const toggle = ([key, [mark, text]]) => {
    const onchange = (event) => {
      shownMarks[key] = event.target.checked;
      applyMarks();
    };
    const box = make("input", { type: "checkbox", checked: shownMarks[key], onchange });
    return make("label", {}, box, " ", make("mark", { class: mark }, text));
  };
  return make(
    "div",
    { class: "legend words pairs lines" },
    Object.entries(MARKS).map(toggle),
    make("span", { class: "quiet" }, "by the words of ", foreign(head.cells[state.cell].marked)),
  );
}

function applyMarks() {
  const texts = document.getElementById("texts");
  for (const [key, shown] of Object.entries(shownMarks)) texts.classList.toggle(key, shown);
}

function referenceButtons(state, texts) {
  if ((texts?.references?.length ?? 0) < 2) return "";
  const choose = (index) => () => {
    chosenReference = index;
    render(state, "keep");
  };
  return make(
    "div",
    { class: "controls", role: "group", "aria-label": "Reference" },
    make("span", { class: "facts" }, "reference"),
    texts.references.map((_, index) =>
      toggleButton(`reference-${index}`, index === chosenReference, choose(index), `${index + 1}`),
    ),
  );
}

/** All scores of the example, of one cell or two, as rows of a table. */
function scoreRows(state, position) {
  const both = state.against !== undefined;
  const [a, b] = [outputOf(state.cell, position), both ? outputOf(state.against, position) : null];
  const rows = [];
  (head.cells[state.cell].jobs ?? []).forEach((job, index) => {
    const jobs = both ? (head.cells[state.against].jobs ?? []) : [];
    const other = jobs.findIndex(({ signature }) => signature === job.signature);
    job.columns.forEach((column, at) => {
      const share = /\.[prf]$/.test(column);
      const value = { scale: share ? 100 : 1, decimals: share ? 2 : 4 };
      const x = a?.scores?.[index]?.[at] ?? null;
      const y = b?.scores?.[other]?.[at] ?? null;
      const difference = x === null || y === null ? null : x - y;
      const better = BETTER[head.values.find(({ name }) => name === column)?.better];
      const gain = difference * better > 0 ? "up" : difference * better < 0 ? "down" : undefined;
      const name = foreign(`${job.metric} ${column}`);
      const row = make("tr", {}, make("th", { scope: "row", title: job.signature }, name));
      row.append(make("td", {}, printed(value, x)));
      if (both) {
        row.append(make("td", {}, printed(value, y)));
        row.append(make("td", { class: gain }, printedDifference(value, difference)));
      }
      rows.push(row);
    });
  });
  return rows;
}

function scoreTable(state, position) {
  const rows = scoreRows(state, position);
  if (rows.length === 0) return "";
  const both = state.against !== undefined;
  const names = both ? ["A", "B", "A − B"] : ["score"];
  const headings = names.map((text) => make("th", { scope: "col" }, text));
  return make(
    "details",
    { open: both },
    make("summary", {}, `Scores of this example (${rows.length})`),
    scrolled(
      "Scores",
      make(
        "table",
        { class: "scores" },
        make("thead", {}, make("tr", {}, make("td"), headings)),
        make("tbody", {}, rows),
      ),
    ),
  );
}

/** What was read of a segment: [[begin, end], …]; undefined where nothing is known of cuts. */
function keptOf(kept, segment, length) {
  if (!kept) return undefined;
  const whole = kept.whole.some(([first, last]) => first <= segment && segment <= last);
  if (whole) return [[0, length]];
  return (kept.parts ?? []).filter(([at]) => at === segment).map(([, begin, end]) => [begin, end]);
}

/** `speaker`: the length of the name that the segment begins with. */
function segmentElement(text, speaker, kept, evidence, language) {
  const parts = [];
  const put = (begin, end, cut) => {
    if (begin >= end) return;
    const named = Math.min(Math.max(speaker, begin), end);
    const name = named > begin && make("span", { class: "speaker" }, text.slice(begin, named));
    const nodes = [name, text.slice(named, end)];
    parts.push(cut ? make("del", { class: "cut" }, nodes) : nodes);
  };
  let at = 0;
  for (const [begin, end] of kept ?? [[0, text.length]]) {
    put(at, begin, true);
    put(begin, end, false);
    at = end;
  }
  put(at, text.length, true);
  const attributes = { class: "segment", dir: "auto", lang: language || undefined };
  if (evidence) Object.assign(attributes, { class: "segment evidence", title: "evidence" });
  return make("p", attributes, parts);
}

function documentSection(state, position, texts) {
  const dataset = head.cells[state.cell].dataset;
  const data = documentOf(dataset, texts?.document);
  if (!data) {
    const reason = head.left_out ?? "The store does not keep its text.";
    return [make("h2", {}, "Document"), make("p", { class: "quiet" }, reason)];
  }
  const ofB = state.reader === "b" && state.against !== undefined;
  const output = outputOf(ofB ? state.against : state.cell, position);
  const [kept, all] = [output?.kept_tokens, output?.document_tokens];
  const evidence = new Set(texts.evidence ?? []);
  const facts = all === undefined ? "" : `, ${grouped(kept)} of ${grouped(all)} tokens read`;
  const read = (letter, chosen) =>
    toggleButton(
      `reader-${letter}`,
      chosen,
      () => go({ ...state, reader: letter.toLowerCase() }, true),
      `as ${letter} read it`,
    );
  const segment = (text, index) =>
    segmentElement(
      text,
      data.speakers?.[index] ?? 0,
      keptOf(output?.kept, index, text.length),
      evidence.has(index),
      texts.language,
    );
  const name = foreign(head.datasets[dataset].documents[position]);
  return [
    make("h2", {}, "Document ", make("span", { class: "facts" }, name, facts)),
    state.against !== undefined &&
      make("div", { class: "controls" }, read("A", !ofB), read("B", ofB)),
    make(
      "div",
      { class: "legend" },
      kept < all && make("span", { class: "sample cut" }, "cut before it was read"),
      evidence.size > 0 && make("span", { class: "sample evidence" }, "evidence"),
    ),
    make("div", { class: "document" }, data.segments.map(segment)),
  ];
}

/** Previous and next example in the order of the list. */
function steps(state) {
  const order = sortedExamples(state);
  const at = order.indexOf(state.example);
  const step = (id, text, by) => {
    const next = at < 0 ? undefined : order[at + by];
    const onclick = () => go({ ...state, example: next });
    const attributes = { class: "button", type: "button", id, onclick };
    return make("button", { ...attributes, disabled: next === undefined }, text);
  };
  return make(
    "div",
    { class: "controls" },
    step("previous", "← previous", -1),
    step("next", "next →", 1),
    at >= 0 && make("span", { class: "facts" }, `${at + 1} of ${order.length} in this order`),
  );
}

function exampleView(state) {
  const cell = head.cells[state.cell];
  const data = head.datasets[cell.dataset];
  const position = state.example;
  const texts = textsOf(cell.dataset, position);
  const both = state.against !== undefined;
  const language = texts?.language || undefined;
  chosenReference ??= closestReference(outputOf(state.cell, position));
  const key = (name) => make("kbd", {}, name);
  return [
    wayBack(state, [listTitle(state), { ...state, example: undefined, reader: undefined }]),
    make("h1", { tabindex: "-1" }, foreign(data.keys[position] || "(no key)")),
    steps(state),
    texts?.query && make("p", { class: "query", dir: "auto", lang: language }, texts.query),
    !data.texts &&
      make("p", { class: "quiet" }, "The store keeps no texts of this data set, only digests."),
    make("h2", {}, both ? "Predictions and reference" : "Prediction and reference"),
    cell.marked && data.texts && markToggles(state),
    referenceButtons(state, texts),
    make("div", { id: "texts" }, besideSections(state, position, texts)),
    scoreTable(state, position),
    documentSection(state, position, texts),
    make(
      "p",
      { class: "facts foot" },
      [key("←"), " ", key("→"), " previous and next example, "],
      [key("Esc"), " back to the list"],
    ),
  ];
}
