const WINDOW = 16; // words of a corner; of a longer sentence only those around words 1 and 2 are shown
const GLOW = 1200; // ms
const instances = new WeakMap();

const ICONS = {
  contradiction: [["path", { d: "M2 5.5h12M2 10.5h12M11.5 1.5l-7 13", fill: "none", stroke: "currentColor", "stroke-width": 2 }]],
  agree: [["path", { d: "M2 5.5h12M2 10.5h12", fill: "none", stroke: "currentColor", "stroke-width": 2 }]],
  zero: [["ellipse", { cx: 8, cy: 8, rx: 4.5, ry: 6, fill: "none", stroke: "currentColor", "stroke-width": 2 }]],
  unknown: [["circle", { cx: 8, cy: 8, r: 5.5, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": "2 2.3" }]],
};
const CORNERS = {
  x: "the sentence as it stands", y: "word 1 changed", w: "word 2 changed", z: "both words changed",
};
// The word that an arrow changes, and where it starts and ends. The first two make one route, the others the other.
const EDGES = { xy: 1, yz: 2, xw: 2, wz: 1 };
const ROUTES = { xy: 1, yz: 1, xw: 2, wz: 2 };

function create(parent) {
  const root = h("div", "root rectangle");
  root.dataset.testid = "rectangle";
  const s = { root, corners: {}, edges: {}, drawn: false, shape: "" };
  s.tip = makeTip(parent, root);
  s.sheet = root.appendChild(h("div", "sheet"));
  const place = (el) => s.sheet.appendChild(el);
  // In the order in which the two routes are read.
  s.corners.x = createCorner(s, place, "x");
  s.edges.xy = createEdge(s, place, "xy");
  s.corners.y = createCorner(s, place, "y");
  s.edges.yz = createEdge(s, place, "yz");
  s.edges.xw = createEdge(s, place, "xw");
  s.corners.w = createCorner(s, place, "w");
  s.edges.wz = createEdge(s, place, "wz");
  s.corners.z = createCorner(s, place, "z");
  createCentre(s, place);
  const foot = place(h("div", "foot"));
  s.meaning = foot.appendChild(h("div", "meaning"));
  s.meaning.dataset.testid = "meaning";
  s.note = foot.appendChild(h("div", "note"));
  s.empty = root.appendChild(h("div", "empty"));
  s.empty.dataset.testid = "rectangle-empty";
  s.sizes = new ResizeObserver(() => keepHeight(s));
  s.sizes.observe(s.sheet);
  s.stop = () => s.sizes.disconnect();
  return s;
}

function createCorner(s, place, name) {
  const el = place(h("div", `corner at-${name}`));
  el.dataset.testid = `corner-${name}`;
  el.setAttribute("role", "group");
  el.append(h("span", "letter", name));
  const words = el.appendChild(h("span", "words"));
  const corner = { el, words, toks: [], tokens: [], kept: 0 };
  s.tip.of(el, () => [`${name}: ${CORNERS[name]}`, plain(corner.tokens)]);
  return corner;
}

function createEdge(s, place, name) {
  const el = place(h("div", `edge at-${name} route-${ROUTES[name]}`));
  el.dataset.testid = `edge-${name}`;
  el.tabIndex = 0;
  const arrow = h("span", "arrow");
  arrow.append(h("span", "line"), h("span", "head"));
  const label = h("span", "label");
  const value = h("span", "value");
  label.append("change ", h("span", `which which-${EDGES[name]}`, `word ${EDGES[name]}`), ": ", value);
  el.append(label, arrow);
  const edge = { el, value };
  s.tip.of(el, () => [`${name[0]} to ${name[1]}: change word ${EDGES[name]}`, precise(s, name), reading(s, name)]);
  return edge;
}

function createCentre(s, place) {
  const centre = place(h("div", "centre"));
  const routes = centre.appendChild(h("div", "routes"));
  const field = (parent, className, name, before, why) => {
    const el = parent.appendChild(h("span", className));
    el.dataset.testid = name;
    el.tabIndex = 0;
    if (className.startsWith("route")) el.append(h("span", "sample"));
    const value = h("span", "value");
    el.append(h("span", "name", before), value);
    s.tip.of(el, () => [el.textContent, precise(s, name), why]);
    return { el, value };
  };
  s.l1 = field(routes, "route route-1", "l1", "word 1 first: ", "the sum along x, y, z");
  s.l2 = field(routes, "route route-2", "l2", "word 2 first: ", "the sum along x, w, z");
  s.delta = field(centre, "delta", "delta", "delta = ", "how far the two sums lie apart");
  s.badge = centre.appendChild(h("span", "badge"));
  s.badge.dataset.testid = "verdict";
  s.badge.tabIndex = 0;
  s.icon = s.badge.appendChild(svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }));
  s.words = s.badge.appendChild(h("span", "badge-text"));
  s.tip.of(s.badge, () => [s.words.textContent, s.because]);
  const small = centre.appendChild(h("div", "small"));
  s.relative = field(small, "figure", "relative", "relative delta ", "delta over the two sums' sizes added: from 0, no disagreement, to 1");
  s.floor = field(small, "figure", "floor", "noise floor ", "as much delta as rounding alone can make");
}

// ---- words of a number ------------------------------------------------------------------------------------------

const known = (x) => typeof x === "number" && Number.isFinite(x);
const minus = (text) => text.replaceAll("-", "\u2212");

function power(x) {
  const [mantissa, exponent] = x.toExponential(1).split("e");
  const raised = [...exponent.replace("+", "")].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
  return minus(`${mantissa} × 10`) + raised;
}

function plainNumber(x) {
  if (Math.abs(x) < 0.005) return "0.00";
  return Math.abs(x) < 1e6 ? minus(x.toFixed(2)) : power(x);
}

const inNats = (x) => (known(x) ? `${plainNumber(x)} nats` : "unknown");
const fine = (x) => (x !== 0 && Math.abs(x) < 0.01 ? power(x) : plainNumber(x));

function precise(s, name) {
  const text = s.exact[name] ?? (known(s.numbers[name]) ? String(s.numbers[name]) : null);
  return text === null ? "" : `in full ${text.replace(/^-/, "\u2212")}${name === "relative" ? "" : " nats"}`;
}

// What an arrow's number compares, with the words themselves.
function reading(s, name) {
  const mark = String(EDGES[name]);
  const word = (corner) => s.corners[corner].tokens.find((token) => token.mark.startsWith(mark))?.t;
  const [from, to] = [word(name[0]), word(name[1])];
  if (from === undefined || to === undefined) return "";
  return `log p(${visible(to).text}) \u2212 log p(${visible(from).text}) at word ${mark}, the other words as they stand in ${name[0]}`;
}

const plain = (tokens) => tokens.map((token, i) => (i === 0 || token.glue ? "" : " ") + visible(token.t).text).join("");

// ---- drawing ----------------------------------------------------------------------------------------------------

function draw(s, data) {
  const empty = String(data.empty ?? "");
  s.root.classList.toggle("none", empty !== "");
  setText(s.empty, empty);
  s.exact = data.exact ?? {};
  s.numbers = { ...(data.edges ?? {}) };
  for (const name of ["l1", "l2", "delta", "relative", "floor"]) s.numbers[name] = data[name];
  if (!empty || data.corners?.x) drawCorners(s, data.corners ?? {}); // else the room of what was there stays
  const glows = s.drawn && !empty && !reducedMotion();
  for (const name in EDGES) fill(s, s.edges[name], name, inNats(s.numbers[name]), glows);
  for (const name of ["l1", "l2", "delta"]) fill(s, s[name], name, inNats(s.numbers[name]), glows);
  const { relative, floor } = s.numbers;
  fill(s, s.relative, "relative", known(relative) ? fine(relative) : "not defined", glows);
  fill(s, s.floor, "floor", known(floor) ? `${fine(floor)} nats` : "not measured", glows);
  verdict(s, data.verdict ?? {});
  setText(s.meaning, String(data.meaning ?? ""));
  setText(s.note, String(data.note ?? ""));
  s.drawn = !empty;
  s.tip.refresh();
  keepHeight(s);
}

function fill(s, field, name, text, glows) {
  if (known(s.numbers[name])) setAttribute(field.el, "data-value", s.exact[name] ?? String(s.numbers[name]));
  else field.el.removeAttribute("data-value");
  if (field.value.textContent === text) return;
  field.value.textContent = text;
  if (!glows) return;
  field.glow?.cancel();
  field.glow = field.value.animate(
    [{ offset: 0, backgroundColor: "var(--glow)", boxShadow: "0 0 0.3em 0.1em var(--glow)" }],
    { duration: GLOW, easing: "ease-out" },
  );
}

function verdict(s, found) {
  const kind = Object.hasOwn(ICONS, found.kind) ? found.kind : "unknown";
  if (s.badge.dataset.kind !== kind) {
    s.badge.dataset.kind = kind;
    s.icon.replaceChildren(...ICONS[kind].map(([tag, attributes]) => svg(tag, attributes)));
  }
  setText(s.words, String(found.text ?? ""));
  s.badge.classList.toggle("gone", !found.text);
  s.because = String(found.tip ?? "");
}

function drawCorners(s, corners) {
  const read = (list) =>
    (Array.isArray(list) ? list : []).map((d) => ({ t: String(d?.t ?? ""), glue: Boolean(d?.glue), mark: String(d?.mark || "") }));
  const x = read(corners.x);
  for (const name in CORNERS) {
    const given = read(corners[name]);
    s.corners[name].tokens = given.length ? given : x; // without words of its own it keeps the room of x
  }
  const lengths = Object.values(s.corners).map((corner) => corner.tokens.length);
  const shape = lengths.join(" ");
  if (s.shape !== shape) {
    s.shape = shape;
    release(s);
  }
  s.sheet.dataset.long = Math.max(...lengths) > 12 ? "1" : "0";
  for (const name in CORNERS) drawCorner(s.corners[name], name);
}

function drawCorner(corner, name) {
  const { tokens, toks, words } = corner;
  const shown = chosen(tokens);
  while (toks.length > shown.length) {
    const tok = toks.pop();
    tok.gap.remove();
    tok.el.remove();
  }
  while (toks.length < shown.length) {
    const tok = { gap: h("span", "gap"), el: h("span", "tok") };
    words.append(tok.gap, tok.el);
    toks.push(tok);
  }
  shown.forEach((i, k) => {
    const tok = toks[k], token = i === null ? { t: "[\u2026]", glue: false, mark: "" } : tokens[i];
    const seen = visible(token.t), mark = /^[12](new)?$/.test(token.mark) ? token.mark : "";
    const glued = token.glue && k > 0 && shown[k - 1] !== null;
    setText(tok.el, seen.text);
    setText(tok.gap, k === 0 || glued ? "" : " ");
    tok.gap.classList.toggle("stay", /^[.,;:!?]$/.test(token.t)); // no full stop alone on a line
    const list = tok.el.classList;
    list.toggle("stand-in", seen.standIn);
    list.toggle("long", seen.text.length > 20);
    list.toggle("new", mark.endsWith("new"));
    list.toggle("dots", i === null);
    if (mark) setAttribute(tok.el, "data-mark", mark[0]);
    else tok.el.removeAttribute("data-mark");
  });
  setAttribute(corner.el, "aria-label", `${name}, ${CORNERS[name]}: ${plain(tokens)}`);
}

// The words to show, by index; null stands for words left out. Grows around the marked ones until the window is full.
function chosen(tokens) {
  if (tokens.length <= WINDOW) return [...tokens.keys()];
  const marked = [...tokens.keys()].filter((i) => tokens[i].mark);
  if (!marked.length) return [...Array(WINDOW).keys(), null];
  let kept = [];
  for (let reach = 0; reach <= tokens.length; reach++) {
    const near = [...tokens.keys()].filter((i) => marked.some((m) => Math.abs(m - i) <= reach));
    if (reach > 1 && near.length > WINDOW) break;
    kept = near;
  }
  const list = [];
  kept.forEach((i, k) => {
    const before = k ? kept[k - 1] : -1;
    if (i === before + 2) list.push(i - 1); // one word takes no more room than the dots for it
    else if (i > before + 1) list.push(null);
    list.push(i);
  });
  const last = kept[kept.length - 1];
  if (last === tokens.length - 2) list.push(last + 1);
  else if (last < tokens.length - 1) list.push(null);
  return list;
}

// Corners never get lower while the sentence and the width stay, so that nothing moves when a word is changed.
function keepHeight(s) {
  const width = s.sheet.clientWidth;
  if (s.width !== width) {
    s.width = width;
    release(s);
  }
  for (const corner of Object.values(s.corners)) {
    if (corner.words.offsetHeight <= corner.kept) continue;
    corner.kept = corner.words.offsetHeight;
    corner.words.style.minHeight = corner.kept + "px";
  }
}

function release(s) {
  for (const corner of Object.values(s.corners)) {
    corner.kept = 0;
    corner.words.style.minHeight = "";
  }
}

export default function (component) {
  const { data, parentElement } = component;
  const s = instance(instances, parentElement, () => create(parentElement));
  if (data) draw(s, data);
  return () => dispose(instances, parentElement);
}
