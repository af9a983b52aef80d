// Reads the blocks of JSON in the page and makes its elements. Whatever a block holds becomes text
// nodes and nothing else: no string of it is ever parsed as HTML.
"use strict";

const loadedBlocks = new Map();

/** The parsed block of this id; undefined where the page has none. */
function block(id) {
  if (!loadedBlocks.has(id)) {
    const element = document.getElementById(id);
    if (!element) return undefined;
    loadedBlocks.set(id, JSON.parse(element.textContent));
    element.remove();
  }
  return loadedBlocks.get(id);
}

const head = block("head");
const BETTER = { higher: 1, lower: -1 };

/**
 * An element with attributes ("onclick": a listener; false and undefined: none) and children;
 * strings are text, what is false or undefined is left out.
 */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...shownNodes(children));
  return element;
}

function shownNodes(nodes) {
  const shown = (node) => node !== undefined && node !== null && node !== false && node !== "";
  return nodes.flat(Infinity).filter(shown);
}

/** Text of somebody else: isolated in direction, broken anywhere. */
function foreign(text) {
  return make("span", { class: "foreign", dir: "auto" }, text);
}

/** A table that is wider than the page scrolls by itself, by keys, too. */
function scrolled(name, table) {
  const attributes = { class: "scroll", tabindex: "0", role: "region", "aria-label": name };
  return make("div", attributes, table);
}

function toggleButton(id, pressed, onclick, text) {
  const attributes = { class: "button", type: "button", id, onclick };
  return make("button", { ...attributes, "aria-pressed": pressed ? "true" : "false" }, text);
}

/** The table, and where given the list, as links above a view. */
function wayBack(state, list) {
  return make(
    "nav",
    { class: "way", "aria-label": "Way back" },
    make("a", { href: "#" }, foreign(head.name)),
    list && ["›", make("a", { href: address(list[1]) }, list[0])],
  );
}

function documentOf(dataset, number) {
  return number === undefined ? undefined : block(`document-${dataset}-${number}`);
}

/** What a cell made of an example; undefined where it did not. */
function outputOf(cell, position) {
  const outputs = block(`outputs-${cell}-${Math.floor(position / head.block)}`);
  return outputs?.[position % head.block] ?? undefined;
}

/** Of data set and position: query, references, language, evidence, document's number. */
function textsOf(dataset, position) {
  const texts = block(`texts-${dataset}-${Math.floor(position / head.block)}`);
  return texts?.[position % head.block];
}

/** A score as the table prints it: by the value's scale and decimals. */
function printed(value, number) {
  if (number === null || number === undefined) return "–";
  return minus((number * value.scale).toFixed(value.decimals));
}

function printedDifference(value, number) {
  if (number === null || number === undefined) return "–";
  const text = (number * value.scale).toFixed(value.decimals);
  return Number(text) > 0 ? `+${text}` : minus(text);
}

function minus(text) {
  if (/^-0(\.0*)?$/.test(text)) return text.slice(1);
  return text.replace("-", "−");
}

/** "12,345". */
function grouped(number) {
  return number.toLocaleString("en");
}

/** "12 examples", "1 example". */
function counted(count, one, several) {
  return `${grouped(count)} ${count === 1 ? one : several}`;
}

/** Values that the list of a cell can show, by their index. */
function scoredValues(cell) {
  return Object.keys(head.cells[cell].scores ?? {}).map(Number);
}

function scoreOf(cell, value, position) {
  return head.cells[cell].scores?.[value]?.[position] ?? null;
}
