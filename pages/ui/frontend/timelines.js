// Okabe and Ito's colours in an order that stays apart, with a dash each.
const COLORS = {
  light: ["#0072b2", "#d55e00", "#007a5a", "#a8487f"],
  dark: ["#56b4e9", "#e69f00", "#2fbf93", "#cc79a7"],
};
const DASHES = ["", "7 4", "2 3", "9 3 2 3"];
const GROUND = { light: "#ffffff", dark: "#0e1116" };
const INK = { light: "#1b1f23", dark: "#edf1f4" };
const SOFT = { light: "#515a62", dark: "#a9b4bd" };
const LINE = { light: "#dfe4e8", dark: "#2b343d" };
const HEIGHT = 98, GAP = 34, TOP = 26, LEFT = 44, RIGHT = 14, RIBBONS = 20;
const FONT = "Source Sans, Source Sans 3, Source Sans Pro, Helvetica, Arial, sans-serif";
const instances = new WeakMap();

const PANELS = [
  { key: "holding", name: () => "holding probability, per step", top: () => 1, ticks: (top) => [0, 0.5, top] },
  { key: "argmax", name: (n) => `words that are the model's first choice, of ${n}`, top: (d) => Math.max(1, d.n), ticks: (top) => [0, top] },
  { key: "changes", name: () => "changes per sweep", top: (d, most) => nice(Math.max(4, most)), ticks: (top) => [0, top / 2, top] },
];

// Where x counts entries a sweep means nothing: how long each change had been waited for, on a scale of powers of ten.
const WAITS = {
  key: "waits",
  name: () => "steps waited before each change",
  top: (d, most) => 2 * Math.max(1, Math.ceil(most / 2)),
  ticks: (top) => [0, top / 2, top],
  mark: (v) => (v < 3 ? String(10 ** v) : "10" + [...String(v)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")),
};
const shown = (d) => (d.unit === "entry" ? [PANELS[0], PANELS[1], WAITS] : PANELS);
const UNITS = { sweep: { axis: "sweeps", least: 0 }, entry: { axis: "entries of the log", least: 1 } };
const unit = (d) => UNITS[d.unit] ?? UNITS.sweep;

function nice(x) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(x, 1e-9)));
  return ten * [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((k) => k * ten >= x * 0.9999);
}

function ticks(max, least) {
  const raw = Math.max(max / 6, least), ten = 10 ** Math.floor(Math.log10(raw));
  const step = ten * [1, 2, 5, 10].find((k) => k * ten >= raw);
  return Array.from({ length: Math.floor(max / step + 1e-9) + 1 }, (_, k) => Number((k * step).toPrecision(6)));
}

function create(parent) {
  const root = h("div", "root timelines");
  root.dataset.testid = "timelines";
  const bar = root.appendChild(h("div", "bar"));
  const s = { root, width: 0, data: null, hover: null };
  s.legend = bar.appendChild(h("div", "legend"));
  for (const [kind, label] of [["svg", "save SVG"], ["png", "save PNG"]]) {
    const button = bar.appendChild(h("button", "save", label));
    button.type = "button";
    button.dataset.testid = `save-${kind}`;
    button.addEventListener("click", () => save(s, kind));
  }
  const holder = root.appendChild(h("div", "holder"));
  s.svg = holder.appendChild(svg("svg", { role: "group", tabindex: "0", "aria-roledescription": "timeline" }));
  s.empty = holder.appendChild(h("div", "empty"));
  s.empty.append(h("span", "", "Press play: figures of the whole sentence appear here, point by point."));
  s.panels = PANELS.map(() => {
    const g = s.svg.appendChild(svg("g", {}));
    const grid = g.appendChild(svg("g", {}));
    const name = g.appendChild(svg("text", { "font-size": 13, "font-weight": 600 }));
    return { g, grid, name, lines: g.appendChild(svg("g", {})) };
  });
  s.ribbon = s.svg.appendChild(svg("g", {}));
  s.axis = s.svg.appendChild(svg("g", {}));
  s.cursor = s.svg.appendChild(svg("path", { "stroke-width": 1.5 }));
  s.hair = s.svg.appendChild(svg("path", { "stroke-width": 1, "stroke-dasharray": "3 3", class: "hair", visibility: "hidden" }));
  s.tip = makeTip(parent, root);
  s.tip.of(s.hair, () => describe(s));
  s.sizes = new ResizeObserver(() => s.data && s.width !== s.svg.clientWidth && draw(s));
  s.sizes.observe(s.svg);
  s.svg.addEventListener("pointermove", (event) => point(s, inverse(s, event.clientX)));
  s.svg.addEventListener("pointerleave", () => leave(s));
  s.svg.addEventListener("blur", () => leave(s));
  s.svg.addEventListener("click", (event) => seek(s, inverse(s, event.clientX)));
  s.svg.addEventListener("keydown", (event) => onKey(s, event));
  s.stop = () => s.sizes.disconnect();
  return s;
}

// A line through the three charts that spares their names.
const upright = (at) => PANELS.map((_, k) => `M${at.toFixed(1)} ${TOP + k * (HEIGHT + GAP) - 3}v${HEIGHT + 6}`).join("");
const x = (s, sweep) => LEFT + (sweep / s.xtop) * (s.width - LEFT - RIGHT);
const clampSweep = (s, sweep) => Math.min(s.data.xmax, Math.max(0, sweep));

function inverse(s, clientX) {
  const box = s.svg.getBoundingClientRect();
  return clampSweep(s, ((clientX - box.left - LEFT) / (s.width - LEFT - RIGHT)) * s.xtop);
}

// Children of a group, made to be as many as the items, then set one by one: nothing is thrown away and redrawn.
function each(group, items, tag, set) {
  while (group.childNodes.length > items.length) group.lastChild.remove();
  items.forEach((item, k) => set(group.childNodes[k] ?? group.appendChild(svg(tag, {})), item, k));
}

function put(el, attributes) {
  for (const name in attributes) setAttribute(el, name, attributes[name]);
}

function label(el, text, attributes) {
  setText(el, text);
  put(el, attributes);
}

function draw(s) {
  const d = s.data, theme = s.root.dataset.theme;
  s.width = s.svg.clientWidth || 600;
  s.xtop = nice(Math.max(1, d.xmax));
  const chains = d.chains ?? [];
  const bottom = TOP + 3 * HEIGHT + 2 * GAP;
  const ribbons = bottom + 12, height = ribbons + RIBBONS + 40;
  put(s.svg, { width: s.width, height, viewBox: `0 0 ${s.width} ${height}`, "font-family": FONT });
  const panels = shown(d);
  const has = chains.some((c) => panels.some((p) => c[p.key]?.length));
  s.root.classList.toggle("none", !has);
  legend(s, chains, theme);
  panels.forEach((panel, k) => drawPanel(s, panel, s.panels[k], TOP + k * (HEIGHT + GAP), chains, theme));
  drawRibbon(s, chains, ribbons, theme);
  const marks = ticks(s.xtop, unit(d).least), y = ribbons + RIBBONS;
  each(s.axis, [...marks, null], "text", (el, t) =>
    t === null
      ? label(el, unit(d).axis, { x: s.width - RIGHT, y: y + 32, "text-anchor": "end", "font-size": 13, fill: SOFT[theme] })
      : label(el, String(t), { x: x(s, t), y: y + 14, "text-anchor": "middle", "font-size": 12, fill: SOFT[theme] }),
  );
  const at = x(s, Math.min(d.cursor, s.xtop));
  put(s.cursor, { d: upright(at), stroke: INK[theme], visibility: has ? "visible" : "hidden" });
  put(s.hair, { stroke: SOFT[theme] });
  setAttribute(s.svg, "aria-label", `Timelines over ${Number(d.xmax.toFixed(1))} ${unit(d).axis}, shown: ${place(d, d.cursor, 1)}. Arrow keys read values, Enter goes there.`);
  if (s.hover !== null) point(s, clampSweep(s, s.hover), s.keyboard);
}

function drawPanel(s, panel, view, y0, chains, theme) {
  const series = chains.map((c) => c[panel.key] ?? []);
  const most = series.flat().reduce((m, p) => Math.max(m, p[1]), 0);
  const top = panel.top(s.data, most);
  const y = (v) => y0 + HEIGHT - (Math.min(Math.max(v, 0), top) / top) * HEIGHT;
  label(view.name, panel.name(s.data.n), { x: LEFT, y: y0 - 8, fill: INK[theme] });
  const levels = panel.ticks(top);
  each(view.grid, levels.flatMap((v) => [["line", v], ["text", v]]), "g", (el, [kind, v]) => {
    const child = el.firstChild ?? el.appendChild(svg(kind, {}));
    if (kind === "line") put(child, { x1: LEFT, x2: s.width - RIGHT, y1: y(v), y2: y(v), stroke: LINE[theme], "stroke-width": 1 });
    else label(child, (panel.mark ?? String)(v), { x: LEFT - 8, y: y(v) + 4, "text-anchor": "end", "font-size": 12, fill: SOFT[theme] });
  });
  each(view.lines, series, "g", (g, points, k) => {
    const color = COLORS[theme][k % 4];
    const path = g.childNodes[0] ?? g.appendChild(svg("path", { fill: "none", "stroke-width": 2, "stroke-linejoin": "round" }));
    const place = points.map((p) => `${x(s, p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`);
    put(path, { d: place.length ? "M" + place.join("L") : "", stroke: color, "stroke-dasharray": DASHES[k % 4] || "none" });
    const end = g.childNodes[1] ?? g.appendChild(svg("circle", { r: 3 }));
    const last = points[points.length - 1];
    put(end, { cx: last ? x(s, last[0]) : 0, cy: last ? y(last[1]) : 0, fill: color, visibility: last ? "visible" : "hidden" });
  });
}

function drawRibbon(s, chains, y0, theme) {
  const end = s.data.xmax, tall = Math.min(12, RIBBONS / Math.max(1, chains.length) - 1);
  put(s.ribbon, { "shape-rendering": "crispEdges" });
  each(s.ribbon, chains, "g", (g, chain, k) => {
    const runs = [];
    for (const [at, tau] of chain.tau ?? []) {
      const color = tauColor(tau), last = runs[runs.length - 1];
      if (!last || last.color !== color) runs.push({ at, color });
    }
    each(g, runs, "rect", (el, run, i) => {
      const x0 = x(s, Math.min(run.at, s.xtop)), x1 = x(s, Math.min(runs[i + 1]?.at ?? end, s.xtop));
      put(el, { x: x0, width: Math.max(0, x1 - x0), y: y0 + k * (tall + 1), height: tall, fill: run.color });
    });
  });
  s.ribbonName ??= s.svg.appendChild(svg("text", {}));
  label(s.ribbonName, "tau", { x: LEFT - 8, y: y0 + 10, "text-anchor": "end", "font-size": 12, fill: SOFT[theme] });
}

function legend(s, chains, theme) {
  const shown = chains.length > 1 ? chains : [];
  while (s.legend.childNodes.length > shown.length) s.legend.lastChild.remove();
  shown.forEach((c, k) => {
    let item = s.legend.childNodes[k];
    if (!item) {
      item = s.legend.appendChild(h("span", "item"));
      item.append(svg("svg", { width: 30, height: 10, "aria-hidden": "true" }), h("span"));
      item.firstChild.append(svg("line", { x1: 1, x2: 29, y1: 5, y2: 5, "stroke-width": 2.5 }));
    }
    put(item.firstChild.firstChild, { stroke: COLORS[theme][k % 4], "stroke-dasharray": DASHES[k % 4] || "none" });
    setText(item.lastChild, c.title ?? c.id);
  });
}

// The last point at or before a sweep: what was known then.
function before(points, sweep) {
  let found = null;
  for (const p of points ?? []) {
    if (p[0] > sweep + 1e-9) break;
    found = p;
  }
  return found;
}

const place = (d, x, digits) => (d.unit === "entry" ? `entry ${Math.round(x)}` : `sweep ${x.toFixed(digits)}`);

function describe(s) {
  const lines = [place(s.data, s.hover, 2)];
  const d = s.data;
  for (const c of d.chains ?? []) {
    const hold = before(c.holding, s.hover), best = before(c.argmax, s.hover);
    const changes = before(c.changes, s.hover), tau = before(c.tau, s.hover), wait = before(c.waits, s.hover);
    const figures = [
      hold && `holding ${hold[1] > 0.999 && hold[1] < 1 ? "1 - " + (1 - hold[1]).toExponential(1) : hold[1].toFixed(3)}`,
      hold?.[2] != null && `expected stay ${count(hold[2])} steps`,
      best && `first choice ${best[1]} of ${d.n}`,
      changes && `${Number(changes[1].toFixed(1))} changes per sweep`,
      wait && `waited ${wait[2]} before the last change`,
      tau && `tau ${tauText(tau[1])}`,
    ].filter(Boolean);
    if (d.chains.length > 1) lines.push(`${c.title ?? c.id}: ${figures.join(", ")}`);
    else lines.push(...figures);
  }
  lines.push("click: go to this step");
  return lines;
}

function point(s, sweep, keyboard = false) {
  if (!s.data || s.root.classList.contains("none")) return;
  s.hover = s.data.unit === "entry" ? Math.round(sweep) : sweep;
  s.keyboard = keyboard;
  const at = x(s, s.hover);
  put(s.hair, { d: upright(at), visibility: "visible" });
  const box = s.svg.getBoundingClientRect();
  s.tip.show(s.hair, { left: box.left + at, width: 0, top: box.top + TOP, bottom: box.bottom });
}

function leave(s) {
  s.hover = null;
  setAttribute(s.hair, "visibility", "hidden");
  s.tip.hide();
}

function seek(s, sweep) {
  if (s.root.classList.contains("none")) return;
  s.send("seek", s.data.unit === "entry" ? { entry: Math.round(sweep) } : { sweep });
}

function onKey(s, event) {
  const now = s.hover ?? s.data?.cursor ?? 0;
  const to = { ArrowRight: Math.floor(now + 1.0001), ArrowLeft: Math.ceil(now - 1.0001), Home: 0, End: s.data?.xmax ?? 0 }[event.key];
  if (event.key === "Enter" && s.hover !== null) seek(s, s.hover);
  else if (to !== undefined) {
    event.preventDefault();
    point(s, clampSweep(s, to), true);
  }
}

// ---- export: the picture as it stands, with its legend -----------------------------------------------------------

function picture(s) {
  const theme = s.root.dataset.theme, copy = s.svg.cloneNode(true);
  copy.querySelector(".hair").remove();
  for (const name of ["tabindex", "role", "aria-label", "aria-roledescription", "style"]) copy.removeAttribute(name);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const chains = s.data.chains, extra = chains.length > 1 ? 22 * chains.length : 0;
  const height = Number(copy.getAttribute("height")) + extra;
  put(copy, { height, viewBox: `0 ${-extra} ${s.width} ${height}` });
  if (extra) {
    chains.forEach((c, k) => {
      const y = 10 + 22 * k - extra;
      copy.append(svg("line", { x1: LEFT, x2: LEFT + 30, y1: y, y2: y, "stroke-width": 2.5, stroke: COLORS[theme][k % 4], "stroke-dasharray": DASHES[k % 4] || "none" }));
      const text = copy.appendChild(svg("text", { x: LEFT + 38, y: y + 4, "font-size": 13, fill: INK[theme] }));
      text.textContent = c.title ?? c.id;
    });
  }
  copy.prepend(svg("rect", { x: 0, y: -extra, width: s.width, height, fill: GROUND[theme] }));
  return { source: new XMLSerializer().serializeToString(copy), width: s.width, height };
}

function download(blob, name) {
  const link = h("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function save(s, kind) {
  if (!s.data) return;
  const { source, width, height } = picture(s);
  const blob = new Blob([source], { type: "image/svg+xml;charset=utf-8" });
  if (kind === "svg") return download(blob, "timelines.svg");
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(source);
  await image.decode();
  const canvas = h("canvas");
  canvas.width = 2 * width;
  canvas.height = 2 * height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((png) => download(png, "timelines.png"), "image/png");
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const s = instance(instances, parentElement, () => create(parentElement));
  s.send = setTriggerValue;
  if (data) {
    s.data = data;
    draw(s);
  }
  return () => dispose(instances, parentElement);
}
