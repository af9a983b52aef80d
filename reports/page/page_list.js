// The examples of one cell, or of two side by side: sorted, filtered, laid out a hundred at a time.

const ROWS_AT_ONCE = 100;

/** The value by which two cells are compared: the address' own, or the first that both have. */
function comparedValue(state) {
  const both = commonValues(state);
  return both.includes(state.by) ? state.by : both[0];
}

function commonValues(state) {
  const others = scoredValues(state.against);
  return scoredValues(state.cell).filter((value) => others.includes(value));
}

/**
 * The columns of a list: key of the address' "sort", heading, number of an example (null where it
 * has none), and its text.
 */
function listColumns(state) {
  const scores = state.against === undefined ? ownColumns(state) : pairedColumns(state);
  return [...scores, ...readColumn(state)];
}

function ownColumns(state) {
  return scoredValues(state.cell).map((index) => ({
    key: `v${index}`,
    title: head.values[index].title,
    of: (position) => scoreOf(state.cell, index, position),
    text: (number) => printed(head.values[index], number),
  }));
}

function pairedColumns(state) {
  const index = comparedValue(state);
  if (index === undefined) return [];
  const value = head.values[index];
  const a = (position) => scoreOf(state.cell, index, position);
  const b = (position) => scoreOf(state.against, index, position);
  const difference = (p) => (a(p) === null || b(p) === null ? null : a(p) - b(p));
  const text = (number) => printed(value, number);
  return [
    { key: "a", title: "A", of: a, text },
    { key: "b", title: "B", of: b, text },
    {
      key: "d",
      title: "A − B",
      of: difference,
      text: (number) => printedDifference(value, number),
      bar: { better: directionOf(state) },
    },
  ];
}

/** How much of the document the cell could read, where it is not all of every document. */
function readColumn(state) {
  const kept = head.cells[state.cell].kept;
  if (!kept) return [];
  const text = (share) => (share === null ? "–" : `${(100 * share).toFixed(0)} %`);
  return [{ key: "k", title: "document read", of: (position) => kept[position], text }];
}

/** 1 where more is better, -1 where less is, undefined where neither is or nobody says. */
function directionOf(state) {
  return BETTER[head.values[comparedValue(state)]?.better];
}

/** "d-": column and direction; two cells begin with where A wins most. */
function sortOf(state) {
  const first = directionOf(state) === -1 ? "d+" : "d-";
  return state.sort ?? (state.against === undefined ? "" : first);
}

/** Positions of the examples, filtered and sorted as the address says. */
function sortedExamples(state) {
  const cell = head.cells[state.cell];
  const data = head.datasets[cell.dataset];
  const missing = new Set(cell.missing ?? []);
  const wanted = (state.find ?? "").toLocaleLowerCase();
  const matches = (position) =>
    [data.keys[position], data.documents[position], data.queries?.[position] ?? ""].some((text) =>
      text.toLocaleLowerCase().includes(wanted),
    );
  const positions = data.keys
    .map((_, position) => position)
    .filter((position) => !missing.has(position) && (!wanted || matches(position)));
  const sort = sortOf(state);
  const column = listColumns(state).find(({ key }) => key === sort.slice(0, -1));
  if (!column) return positions;
  const sign = sort.endsWith("-") ? -1 : 1;
  const numbers = new Map(positions.map((position) => [position, column.of(position)]));
  return positions.sort((a, b) => {
    const [x, y] = [numbers.get(a), numbers.get(b)];
    if (x === null || y === null) return (x === null) - (y === null); // without a number: last
    return sign * (x - y) || a - b;
  });
}

function sortHeading(state, column) {
  const sort = sortOf(state);
  const own = sort.slice(0, -1) === column.key;
  const down = own && sort.endsWith("-");
  const onclick = () => go({ ...state, sort: column.key + (down ? "+" : "-") }, true);
  const pressed = own ? "true" : "false";
  return make(
    "th",
    { scope: "col", "aria-sort": own && (down ? "descending" : "ascending") },
    make(
      "button",
      { type: "button", id: `sort-${column.key}`, "aria-pressed": pressed, onclick },
      foreign(column.title),
      own && (down ? " ↓" : " ↑"),
    ),
  );
}

/** From the middle: to the right where A is higher, to the left where B is. */
function bar(number, widest, better) {
  const share = widest > 0 ? (Math.abs(number) / widest) * 50 : 0;
  const inner = make("i");
  inner.style.width = `${share}%`;
  inner.style.left = `${number < 0 ? 50 - share : 50}%`;
  const gain = better === undefined ? "" : better * number < 0 ? "down" : "up";
  return make("span", { class: `bar ${gain}`, "aria-hidden": "true" }, inner);
}

function numberCell(column, widest, position) {
  const number = column.of(position);
  if (!column.bar) return make("td", {}, column.text(number));
  const text = make("span", { class: "difference" }, column.text(number));
  return make("td", {}, number !== null && bar(number, widest, column.bar.better), text);
}

function listRow(state, columns, widest, position) {
  const data = head.datasets[head.cells[state.cell].dataset];
  const to = address({ ...state, example: position });
  const key = make("a", { href: to }, foreign(data.keys[position] || "(no key)"));
  const query = data.queries && make("td", { class: "text" }, foreign(data.queries[position]));
  return make(
    "tr",
    {},
    make("th", { class: "stub", scope: "row" }, key),
    query,
    columns.map((column) => numberCell(column, widest, position)),
  );
}

/** Who wins (where neither is better, who is higher), how often, and by how much. */
function comparisonFacts(state, positions) {
  const index = comparedValue(state);
  if (index === undefined) {
    return make("p", { class: "facts" }, "The two have no score in common.");
  }
  const value = head.values[index];
  const better = directionOf(state);
  let [a, b, equal, sum] = [0, 0, 0, 0];
  for (const position of positions) {
    const x = scoreOf(state.cell, index, position);
    const y = scoreOf(state.against, index, position);
    if (x === null || y === null) continue;
    sum += x - y;
    if (x === y) equal++;
    else if ((better ?? 1) * (x - y) > 0) a++;
    else b++;
  }
  const n = a + b + equal;
  const mean = n > 0 ? `; mean difference ${printedDifference(value, sum / n)}` : "";
  const wins = better === undefined ? "higher" : "better";
  const counts = `: A is ${wins} in ${a}, B in ${b}, ${equal} equal${mean}.`;
  return make("p", { class: "facts" }, foreign(value.title), counts);
}

function choice(id, label, options, chosen, onchoose) {
  const made = options.map(([value, text]) =>
    make("option", { value: String(value), selected: value === chosen }, text),
  );
  const onchange = (event) => onchoose(event.target.value === "" ? undefined : +event.target.value);
  return make("label", {}, `${label} `, make("select", { id, onchange }, made));
}

function listControls(state) {
  const titled = head.cells.map((cell, number) => [number, cell.title]);
  const { dataset } = head.cells[state.cell];
  const others = titled.filter(
    ([number]) =>
      number !== state.cell && head.cells[number].dataset === dataset && head.cells[number].scores,
  );
  const against = (number) => go({ ...state, sort: undefined, against: number });
  const by = (value) => go({ ...state, by: value }, true);
  const values = () => commonValues(state).map((value) => [value, head.values[value].title]);
  const find = make("input", {
    id: "find",
    type: "search",
    value: state.find ?? "",
    placeholder: "key, document, query",
    oninput: (event) => refreshRows({ ...state, find: event.target.value || undefined }),
  });
  return make(
    "div",
    { class: "controls" },
    choice("cell", "cell A", titled, state.cell, (number) => go({ cell: number })),
    choice("against", "beside B", [["", "none"], ...others], state.against ?? "", against),
    state.against !== undefined && choice("by", "by", values(), comparedValue(state), by),
    make("label", {}, "find ", find),
  );
}

/** The rows alone, while the reader types: the field keeps its place. */
function refreshRows(state) {
  history.replaceState(null, "", address(state));
  document.getElementById("rows").replaceWith(listRows(state));
}

function listRows(state) {
  const data = head.datasets[head.cells[state.cell].dataset];
  const columns = listColumns(state);
  const positions = sortedExamples(state);
  const barred = columns.find((column) => column.bar);
  const width = (position) => Math.abs(barred?.of(position) ?? 0);
  const widest = positions.reduce((most, position) => Math.max(most, width(position)), 0);
  const body = make("tbody");
  let shown = 0;
  const extend = () => {
    const next = positions.slice(shown, shown + ROWS_AT_ONCE);
    body.append(...next.map((position) => listRow(state, columns, widest, position)));
    shown += next.length;
    more.hidden = shown === positions.length;
    more.textContent = `Show more: ${positions.length - shown} left`;
  };
  const more = make("button", { class: "button more", type: "button", onclick: extend });
  extend();
  const reached = ([entry]) => entry.isIntersecting && !more.hidden && extend();
  new IntersectionObserver(reached, { rootMargin: "400px" }).observe(more);
  const stub = (text) => make("th", { class: "stub", scope: "col" }, text);
  const headings = make(
    "tr",
    {},
    stub("example"),
    data.queries && stub("query"),
    columns.map((column) => sortHeading(state, column)),
  );
  const versus = data.queries && state.against !== undefined;
  const table = { class: versus ? "list versus" : "list" };
  return make(
    "div",
    { id: "rows" },
    state.against !== undefined && comparisonFacts(state, positions),
    make("p", { class: "facts", role: "status" }, counted(positions.length, "example", "examples")),
    scrolled("Examples", make("table", table, make("thead", {}, headings), body)),
    more,
  );
}

function cellFacts(cell) {
  const facts = Object.entries(cell.dimensions).map(([name, value]) => `${name} ${value}`);
  if (cell.oracle) facts.push("reads references or evidence");
  return make("p", { class: "facts" }, foreign(facts.join(" · ")), ` · cell ${cell.cell}`);
}

function listTitle(state) {
  const versus = state.against !== undefined;
  const title = foreign(head.cells[state.cell].title);
  return [title, versus && [" beside ", foreign(head.cells[state.against].title)]];
}

function listView(state) {
  const cell = head.cells[state.cell];
  return [
    wayBack(state),
    make("h1", { tabindex: "-1" }, listTitle(state)),
    cellFacts(cell),
    (cell.trouble ?? []).map(troubleText),
    listControls(state),
    listRows(state),
  ];
}
