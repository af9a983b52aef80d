// The first view: the table as it is printed, each number a way to the examples behind it, and why
// cells have none.

/** Runs of equal headings of one level, as far as all levels above agree: [text, how many]. */
function headingRuns(columns, level) {
  const runs = [];
  let before;
  for (const column of columns) {
    const path = JSON.stringify(column.slice(0, level + 1));
    if (path === before) runs[runs.length - 1][1]++;
    else runs.push([column[level], 1]);
    before = path;
  }
  return runs;
}

function gridHead(grid) {
  const last = grid.levels.length - 1;
  const stubs = (named) =>
    head.table.axes.map((axis) =>
      named ? make("th", { class: "stub", scope: "col" }, foreign(axis)) : make("td"),
    );
  const rows = grid.levels.map((_, level) => {
    const each = () => grid.columns.map((column) => [column[level], 1]);
    const runs = level === last ? each() : headingRuns(grid.columns, level);
    const headings = runs.map(([text, count]) => {
      const attributes = { scope: "col", colspan: count > 1 && count };
      return make("th", { ...attributes, class: level < last && "span" }, foreign(text));
    });
    return make("tr", {}, stubs(level === last), headings);
  });
  if (rows.length === 0) rows.push(make("tr", {}, stubs(true), make("td")));
  return make("thead", {}, rows);
}

function gridCell(cell) {
  if (!cell) return make("td");
  const place = cell.places[0];
  const numbered = cell.number !== undefined;
  const text = numbered
    ? [make("span", { class: cell.best && "best" }, cell.number), cell.mark]
    : cell.behind;
  const behind = numbered && make("span", { class: "behind" }, cell.behind);
  if (place === undefined) return make("td", {}, text, behind);
  const attributes = { href: address({ cell: place }), title: head.cells[place].title };
  return make("td", {}, make("a", attributes, text), behind);
}

/** Labels of a row; neighbours that agree on one and on all before it share it, but for the last. */
function rowLabels(rows, at) {
  const path = (row, level) => JSON.stringify(rows[row]?.labels.slice(0, level + 1));
  return rows[at].labels.map((label, level) => {
    const last = level === rows[at].labels.length - 1;
    if (last) return make("th", { scope: "row" }, foreign(label));
    if (path(at - 1, level) === path(at, level)) return undefined;
    let end = at + 1;
    while (path(end, level) === path(at, level)) end++;
    return make("th", { scope: "rowgroup", rowspan: end - at }, foreign(label));
  });
}

function gridTable(grid) {
  const row = ({ labels, cells }, at) => {
    const follows = labels.length > 1 && at > 0;
    const shares = follows && labels[0] === grid.rows[at - 1].labels[0];
    const place = { class: shares ? "shares" : follows && "begins" };
    return make("tr", place, rowLabels(grid.rows, at), cells.map(gridCell));
  };
  const by = grid.levels.join(" · ");
  const caption = grid.title && [make("b", {}, foreign(grid.title)), by && ` by ${by}`];
  return scrolled(
    grid.title ?? head.name,
    make(
      "table",
      { class: "grid" },
      caption && make("caption", {}, caption),
      gridHead(grid),
      make("tbody", {}, grid.rows.map(row)),
    ),
  );
}

/** Why a cell has no outputs or no times, with the end of its log. */
function troubleText(trouble) {
  const { state, what, text, log } = trouble;
  const reason = text && [": ", foreign(text)];
  const end =
    log?.end !== undefined &&
    make(
      "details",
      {},
      make("summary", {}, "end of its log, ", foreign(log.name)),
      make("pre", { tabindex: "0" }, log.end || "(empty)"),
    );
  const problem =
    log?.problem && make("p", { class: "quiet" }, "its log cannot be read: ", foreign(log.problem));
  return make(
    "div",
    { class: "trouble" },
    make("p", {}, make("b", {}, state), ` ${what}`, reason),
    end,
    problem,
  );
}

function troubles() {
  const found = head.cells.map((cell, number) => [cell, number]).filter(([cell]) => cell.trouble);
  if (found.length === 0) return [];
  return [
    make("h2", {}, `Without a number: ${counted(found.length, "cell", "cells")}`),
    found.map(([cell, number]) => [
      make("p", {}, make("a", { href: address({ cell: number }) }, foreign(cell.title))),
      cell.trouble.map(troubleText),
    ]),
  ];
}

function tableView() {
  const notes = [...head.mark_notes, ...head.notes, head.left_out].filter(Boolean);
  const hint =
    "Each number leads to the examples behind it; there, two cells can be put side by side.";
  return [
    make("h1", { tabindex: "-1" }, foreign(head.name)),
    head.description && make("p", { class: "quiet" }, foreign(head.description)),
    head.table.grids.map(gridTable),
    make("p", { class: "quiet" }, hint),
    make("div", { class: "notes" }, notes.map((note) => make("p", {}, foreign(note)))),
    troubles(),
    make("p", { class: "signature" }, head.signature, head.store && ` | store ${head.store}`),
  ];
}
