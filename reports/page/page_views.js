// Which view is shown: the address says it (#cell=3&against=5&example=12), so that going back,
// bookmarks and links work. Last of the page's scripts; it starts the page.
const NUMBERS = ["cell", "against", "example", "by"];
const WORDS = ["sort", "find", "reader"];

/** The address of a state; what is undefined is left out. */
function address(state) {
  const parts = [...NUMBERS, ...WORDS]
    .filter((name) => state[name] !== undefined)
    .map((name) => `${name}=${encodeURIComponent(state[name])}`);
  return `#${parts.join("&")}`;
}

/** The state of the address, without what the page does not have. */
function currentState() {
  const state = {};
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of NUMBERS) {
    if (/^\d+$/.test(given.get(name) ?? "")) state[name] = Number(given.get(name));
  }
  for (const name of WORDS) {
    if (given.get(name)) state[name] = given.get(name);
  }
  if (!head.cells[state.cell]) return {};
  const dataset = head.cells[state.cell].dataset;
  const other = head.cells[state.against];
  if (other?.dataset !== dataset || state.against === state.cell) delete state.against;
  if (head.datasets[dataset].keys[state.example] === undefined) delete state.example;
  return state;
}

/** Shows a state; `replace`: without a step in the history. */
function go(state, replace) {
  if (replace) {
    history.replaceState(null, "", address(state));
    render(currentState(), "keep");
  } else {
    location.hash = address(state);
  }
}

let shownExample;

function viewOf(state) {
  if (state.cell === undefined) return tableView();
  return state.example === undefined ? listView(state) : exampleView(state);
}

function titleOf(state) {
  const names = [head.name];
  if (state.cell !== undefined) names.unshift(head.cells[state.cell].title);
  if (state.example !== undefined) {
    names.unshift(head.datasets[head.cells[state.cell].dataset].keys[state.example]);
  }
  return names.join(" · ");
}

/** `place`: "keep" leaves scrolling and focus where they are, "first" is the page's first view. */
function render(state, place) {
  const example = state.example !== undefined && `${state.cell}/${state.against}/${state.example}`;
  if (example !== shownExample) chosenReference = undefined;
  shownExample = example;
  const focused = place === "keep" && document.activeElement?.id;
  document.getElementById("page").replaceChildren(...shownNodes(viewOf(state)));
  if (example) applyMarks();
  document.title = titleOf(state);
  if (focused) document.getElementById(focused)?.focus();
  if (place !== undefined) return;
  scrollTo(0, 0);
  document.querySelector("h1").focus({ preventScroll: true });
}

function onKey(event) {
  const field = event.target.matches?.("input[type=search], select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const state = currentState();
  if (event.key === "Escape" && state.cell !== undefined) {
    const inList = state.example === undefined;
    go(inList ? {} : { ...state, example: undefined, reader: undefined });
  } else if (!field && event.key === "/" && document.getElementById("find")) {
    event.preventDefault();
    document.getElementById("find").focus();
  } else if (!field && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
    document.getElementById(event.key === "ArrowLeft" ? "previous" : "next")?.click();
  }
}

addEventListener("hashchange", () => render(currentState()));
addEventListener("keydown", onKey);

render(currentState(), "first");
// Blocks of examples stand behind this script: what asked for one too early is shown again.
if (document.readyState === "loading") {
  addEventListener("DOMContentLoaded", () => {
    if (currentState().example !== undefined) render(currentState(), "first");
  });
}
