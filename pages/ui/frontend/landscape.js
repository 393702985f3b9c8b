const instances = new WeakMap();
let clicks = 0;

// Okabe and Ito's colours, in an order in which neighbours differ most; the last ones are told apart by letters.
const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a7a00", "#7f7f7f"];
const DARK = ["#4da3dd", "#f0b429", "#2fc79b", "#e39ac2", "#ff8642", "#7cc8f2", "#d8cb3c", "#a8a8a8"];
// Basins take the others first, so that a few chains and a few basins share no colour.
const BASINS = ["#d55e00", "#56b4e9", "#8a7a00", "#6a51a3", "#0072b2", "#e69f00", "#009e73", "#cc79a7"];
const TRAIL = 40; // visits of a chain that its trail shows
const NEAR = 12; // pixels
const HALO = 11; // radius of a state's share in its basin's region, pixels

function create(parent) {
  const root = h("div", "root landscape");
  root.dataset.testid = "landscape";
  const s = { root, parent, epoch: null, states: [], chains: [], labels: [], view: null, dirty: false };
  const left = root.appendChild(h("div", "left"));
  const bar = left.appendChild(h("div", "bar"));
  s.legend = bar.appendChild(h("div", "legend"));
  const tools = bar.appendChild(h("div", "tools"));
  s.save = tools.appendChild(h("button", "fit", "save"));
  s.fit = tools.appendChild(h("button", "fit", "fit"));
  s.save.type = s.fit.type = "button";
  s.save.title = "Save the map as a picture";
  s.fit.title = "Show all points";
  s.frame = left.appendChild(h("div", "frame"));
  s.canvas = s.frame.appendChild(h("canvas", "map"));
  s.canvas.tabIndex = 0;
  s.canvas.setAttribute("role", "img");
  s.canvas.dataset.testid = "landscape-map";
  s.note = s.frame.appendChild(h("div", "note"));
  s.list = root.appendChild(h("ol", "chains"));
  s.anchor = s.frame.appendChild(h("i", "anchor"));
  s.tip = makeTip(parent, root);
  s.tip.of(s.anchor, () => describe(s));
  s.sizes = new ResizeObserver(() => ask(s));
  s.sizes.observe(s.frame);
  s.save.addEventListener("click", () => savePicture(s));
  s.fit.addEventListener("click", () => { s.view = null; ask(s); });
  hands(s);
  s.stop = () => { s.sizes.disconnect(); cancelAnimationFrame(s.waiting); };
  return s;
}

// ---- data -------------------------------------------------------------------------------------------------------

function take(s, data) {
  if (s.epoch !== data.epoch) {
    Object.assign(s, { epoch: data.epoch, states: [], chains: [], labels: [], view: null, labelled: null, over: null });
  }
  s.data = data;
  const block = data.states ?? {}, from = block.from ?? 0;
  let gap = from > s.states.length;
  if (!gap) (block.rows ?? []).forEach((row, k) => { s.states[from + k] = row; });
  (data.chains ?? []).forEach((c, k) => {
    const have = s.chains[k] ?? (s.chains[k] = []);
    if (c.from > have.length) gap = true;
    else c.visits.forEach((visit, j) => { have[c.from + j] = visit; });
  });
  s.chains.length = (data.chains ?? []).length;
  if (Array.isArray(data.labels)) s.labels = data.labels;
  else if (data.labelled !== s.labelled) gap = true;
  if (Array.isArray(data.labels)) s.labelled = data.labelled;
  if (gap && s.asked !== data.seq) { // some of it was sent while nothing was listening
    s.asked = data.seq;
    s.send("resync", { n: ++clicks });
  }
  drawLegend(s);
  drawList(s);
  s.tip.refresh();
  ask(s);
}

function ask(s) {
  if (s.dirty) return;
  s.dirty = true;
  s.waiting = requestAnimationFrame(() => { s.dirty = false; draw(s); });
}

// ---- places -----------------------------------------------------------------------------------------------------

function bounds(s, all) {
  const box = s.data.bounds ?? [-1, 1, -1, 1];
  let [x0, x1, y0, y1] = box;
  const room = 0.2 * Math.max(x1 - x0, y1 - y0); // chains leave the hull of the topics' centres
  [x0, x1, y0, y1] = [x0 - room, x1 + room, y0 - room, y1 + room];
  if (all) {
    for (const [x, y] of s.states) {
      x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, y); y1 = Math.max(y1, y);
    }
  }
  return [x0, x1, y0, y1];
}

function fitted(s, width, height) {
  const [x0, x1, y0, y1] = bounds(s, true), pad = 14;
  const k = Math.min((width - 2 * pad) / (x1 - x0 || 1), (height - 2 * pad) / (y1 - y0 || 1));
  return { k, x: width / 2 - (k * (x0 + x1)) / 2, y: height / 2 + (k * (y0 + y1)) / 2 };
}

const toX = (s, x) => s.view.x + s.view.k * x;
const toY = (s, y) => s.view.y - s.view.k * y;

// ---- picture ----------------------------------------------------------------------------------------------------

function palette(s) {
  return s.root.dataset.theme === "dark" ? DARK : PALETTE;
}

function ramp(s, u) { // dark blue to orange on light ground, the other way round on dark
  const w = Math.min(1, Math.max(0, u)), dark = s.root.dataset.theme === "dark";
  const a = dark ? [70, 110, 190] : [0, 70, 140], b = dark ? [255, 190, 90] : [222, 120, 0];
  return `rgb(${[0, 1, 2].map((k) => Math.round(a[k] + (b[k] - a[k]) * w)).join(",")})`;
}

function visitColor(s, k, visit, last) {
  const colors = palette(s), mode = s.data.color;
  if (mode === "topic") {
    const topic = s.states[visit[0]]?.[3] ?? -1;
    return topic < 0 ? "rgba(128,128,128,0.75)" : colors[topic % colors.length];
  }
  if (mode === "stay") return visit[2] === null ? "rgba(128,128,128,0.75)" : ramp(s, visit[2] / (s.data.longest || 1));
  if (mode === "step") return ramp(s, last ? visit[1] / last : 0);
  return colors[k % colors.length];
}

function draw(s) {
  if (!s.data) return;
  const box = s.frame.getBoundingClientRect(), ratio = devicePixelRatio || 1;
  const width = Math.round(box.width), height = Math.round(box.height);
  if (!width || !height) return;
  if (s.canvas.width !== width * ratio || s.canvas.height !== height * ratio) {
    s.canvas.width = width * ratio;
    s.canvas.height = height * ratio;
    if (!s.moved) s.view = null;
  }
  if (!s.view) { s.view = fitted(s, width, height); s.moved = false; }
  const c = s.canvas.getContext("2d"), style = getComputedStyle(s.root);
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  s.places = s.states.map((row) => (row ? [toX(s, row[0]), toY(s, row[1])] : null));
  drawBasins(s, c);
  drawPoints(s, c);
  drawTrails(s, c);
  drawNames(s, c, style);
  drawHeads(s, c, style);
  let out = 0;
  for (const p of s.places) if (p && (p[0] < 0 || p[0] > width || p[1] < 0 || p[1] > height)) out++;
  const words = out ? `${out.toLocaleString("en-US")} of ${s.places.length.toLocaleString("en-US")} sentences lie outside this view` : "";
  setText(s.note, s.states.length ? words : String(s.data.empty ?? ""));
  setAttribute(s.canvas, "aria-label", `map of ${s.states.length} sentences, ${(s.data.basins ?? []).length} basins`);
  s.root.dataset.drawn = s.states.length;
}

function drawBasins(s, c) {
  const inside = new Set((s.data.now ?? []).map((n) => n.basin).filter((b) => b > 0));
  const members = new Map();
  s.labels.forEach((label, k) => {
    if (label < 0 || !s.places[k]) return;
    if (!members.has(label)) members.set(label, []);
    members.get(label).push(s.places[k]);
  });
  for (const [label, list] of members) {
    c.globalAlpha = inside.has(label + 1) ? 0.5 : 0.16;
    c.fillStyle = BASINS[label % BASINS.length];
    c.beginPath();
    for (const [x, y] of list) { c.moveTo(x + HALO, y); c.arc(x, y, HALO, 0, 2 * Math.PI); }
    c.fill();
  }
  c.globalAlpha = 1;
  s.lit = [...inside].sort((a, b) => a - b);
  s.root.dataset.lit = s.lit.join(" ");
  s.centres = [...members].map(([label, list]) => [
    label + 1, list.reduce((sum, p) => sum + p[0], 0) / list.length, Math.min(...list.map((p) => p[1])) - HALO - 4,
  ]);
}

// Topics where their sentences lie, and the numbers of the basins; with a rim of the ground's colour to be read on points.
function drawNames(s, c, style) {
  const ground = getComputedStyle(s.root.__probe).backgroundColor;
  c.textAlign = "center";
  c.lineJoin = "round";
  c.lineWidth = 3.5;
  c.strokeStyle = ground;
  c.fillStyle = style.color;
  const write = (font, text, x, y) => {
    c.font = font;
    c.strokeText(text, x, y);
    c.fillText(text, x, y);
  };
  c.globalAlpha = 0.75;
  for (const mark of s.data.landmarks ?? []) write(`italic 13px ${style.fontFamily}`, mark.t, toX(s, mark.x), toY(s, mark.y));
  c.globalAlpha = 1;
  for (const [number, x, y] of s.centres) write(`700 14px ${style.fontFamily}`, String(number), x, Math.max(14, y));
}

function drawPoints(s, c) {
  c.globalAlpha = 0.8;
  s.chains.forEach((visits, k) => {
    const last = Math.max(...s.chains.map((v) => v[v.length - 1]?.[1] ?? 0));
    for (const visit of visits) {
      const place = visit && s.places[visit[0]];
      if (!place) continue;
      c.fillStyle = visitColor(s, k, visit, last);
      c.fillRect(place[0] - 2, place[1] - 2, 4, 4);
    }
  });
  c.globalAlpha = 1;
}

function drawTrails(s, c) {
  const colors = palette(s);
  c.lineWidth = 1.6;
  s.chains.forEach((visits, k) => {
    const tail = visits.slice(-TRAIL);
    c.strokeStyle = colors[k % colors.length];
    for (let j = 1; j < tail.length; j++) {
      const a = s.places[tail[j - 1]?.[0]], b = s.places[tail[j]?.[0]];
      if (!a || !b) continue;
      c.globalAlpha = 0.08 + (0.72 * j) / tail.length;
      c.beginPath();
      c.moveTo(...a);
      c.lineTo(...b);
      c.stroke();
    }
  });
  c.globalAlpha = 1;
}

function drawHeads(s, c, style) {
  const colors = palette(s), ground = getComputedStyle(s.root.__probe).backgroundColor;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.font = `600 11px ${style.fontFamily}`;
  const heads = s.chains.map((visits) => s.places[visits[visits.length - 1]?.[0]]);
  s.root.dataset.heads = JSON.stringify(heads.map((place) => place?.map(Math.round) ?? null));
  heads.forEach((place, k) => {
    if (!place) return;
    c.beginPath();
    c.arc(place[0], place[1], 9, 0, 2 * Math.PI);
    c.fillStyle = ground;
    c.fill();
    c.lineWidth = 2.5;
    c.strokeStyle = colors[k % colors.length];
    c.stroke();
    c.fillStyle = style.color;
    c.fillText(String.fromCharCode(65 + k), place[0], place[1] + 0.5);
  });
  const chosen = s.places[s.data.selected];
  if (chosen) {
    c.beginPath();
    c.arc(chosen[0], chosen[1], 13, 0, 2 * Math.PI);
    c.lineWidth = 2;
    c.strokeStyle = style.color;
    c.setLineDash([4, 3]);
    c.stroke();
    c.setLineDash([]);
  }
  c.textBaseline = "alphabetic";
}

function savePicture(s) {
  const copy = document.createElement("canvas");
  copy.width = s.canvas.width;
  copy.height = s.canvas.height;
  const c = copy.getContext("2d");
  c.fillStyle = getComputedStyle(s.root.__probe).backgroundColor;
  c.fillRect(0, 0, copy.width, copy.height);
  c.drawImage(s.canvas, 0, 0);
  const link = h("a");
  link.download = "landscape.png";
  link.href = copy.toDataURL("image/png");
  link.click();
}

// ---- words beside it --------------------------------------------------------------------------------------------

function drawLegend(s) {
  const colors = palette(s), mode = s.data.color, items = [];
  if (mode === "topic") (s.data.topics ?? []).forEach((t, k) => items.push([colors[k % colors.length], t]));
  else if (mode === "stay") items.push([ramp(s, 0), "short stay"], [ramp(s, 1), "long stay"]);
  else if (mode === "step") items.push([ramp(s, 0), "early"], [ramp(s, 1), "late"]);
  else (s.data.now ?? []).forEach((n, k) => items.push([colors[k % colors.length], n.id]));
  if (mode === "topic") items.push(["#808080", "no topic"]);
  while (s.legend.childNodes.length > items.length) s.legend.lastChild.remove();
  items.forEach(([color, text], k) => {
    const item = s.legend.childNodes[k] ?? s.legend.appendChild(h("span", "item"));
    if (!item.firstChild) item.append(h("i", "dot"), h("span"));
    item.firstChild.style.background = color;
    setText(item.lastChild, String(text));
  });
}

function drawList(s) {
  const colors = palette(s), now = s.data.now ?? [];
  while (s.list.childNodes.length > now.length) s.list.lastChild.remove();
  now.forEach((n, k) => {
    let row = s.list.childNodes[k];
    if (!row) {
      row = s.list.appendChild(h("li", "chain"));
      row.append(h("b", "id"), h("span", "text"), h("span", "where"));
      row.dataset.testid = `landscape-chain-${k}`;
    }
    setText(row.childNodes[0], n.id);
    row.childNodes[0].style.borderColor = colors[k % colors.length];
    setText(row.childNodes[1], n.text);
    setText(row.childNodes[2], n.where);
    row.classList.toggle("inside", n.basin > 0);
  });
}

// ---- hands ------------------------------------------------------------------------------------------------------

function nearest(s, x, y) {
  let best = null, least = NEAR * NEAR;
  (s.places ?? []).forEach((p, k) => {
    if (!p) return;
    const d = (p[0] - x) ** 2 + (p[1] - y) ** 2;
    if (d < least || (d === least && best === null)) [best, least] = [k, d];
  });
  return best;
}

function at(s, event) {
  const box = s.canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function hands(s) {
  let drag = null;
  s.canvas.addEventListener("pointerdown", (e) => {
    if (!s.view) return;
    drag = { x: e.clientX, y: e.clientY, far: false };
    s.canvas.setPointerCapture(e.pointerId);
  });
  s.canvas.addEventListener("pointermove", (e) => {
    if (drag) {
      const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
      if (!drag.far && Math.hypot(dx, dy) < 4) return;
      Object.assign(drag, { x: e.clientX, y: e.clientY, far: true });
      s.view.x += dx;
      s.view.y += dy;
      s.moved = true;
      ask(s);
      return;
    }
    hover(s, nearest(s, ...at(s, e)));
  });
  s.canvas.addEventListener("pointerup", (e) => {
    const was = drag;
    drag = null;
    if (!was || was.far) return;
    const state = nearest(s, ...at(s, e));
    if (state !== null) s.send("pick", { state, epoch: s.epoch, n: ++clicks });
  });
  s.canvas.addEventListener("pointercancel", () => { drag = null; });
  s.canvas.addEventListener("pointerleave", () => hover(s, null));
  s.canvas.addEventListener("wheel", (e) => {
    if (!s.view || !(e.ctrlKey || e.metaKey || s.canvas.matches(":focus"))) return; // the page scrolls otherwise
    e.preventDefault();
    const [x, y] = at(s, e), by = Math.exp(-e.deltaY * 0.0015);
    zoom(s, x, y, by);
  }, { passive: false });
  s.canvas.addEventListener("keydown", (e) => {
    const box = s.canvas.getBoundingClientRect();
    if (e.key === "+" || e.key === "-") zoom(s, box.width / 2, box.height / 2, e.key === "+" ? 1.25 : 0.8);
    const step = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[e.key];
    if (!step || !s.view) return;
    e.preventDefault();
    s.view.x += step[0];
    s.view.y += step[1];
    s.moved = true;
    ask(s);
  });
}

function zoom(s, x, y, by) {
  const k = Math.min(1e5, Math.max(1, s.view.k * by)), real = k / s.view.k;
  s.view = { k, x: x - (x - s.view.x) * real, y: y - (y - s.view.y) * real };
  s.moved = true;
  ask(s);
}

function hover(s, state) {
  if (s.over === state) return;
  s.over = state;
  if (state === null || !s.places[state]) return s.tip.hide();
  s.anchor.style.left = s.places[state][0] - 6 + "px";
  s.anchor.style.top = s.places[state][1] - 6 + "px";
  s.tip.show(s.anchor);
}

function describe(s) {
  const row = s.states[s.over];
  if (!row) return [];
  const topic = row[3] >= 0 ? `topic: ${s.data.topics?.[row[3]]}` : "no topic stands out";
  const label = s.labels[s.over];
  const found = [];
  s.chains.forEach((visits, k) => {
    const count = visits.filter((v) => v && v[0] === s.over).length;
    if (count) found.push(`${String.fromCharCode(65 + k)} ${count === 1 ? "once" : count + " times"}`);
  });
  const basin = label >= 0 ? `basin ${label + 1}` : "in no basin";
  return [row[2], `${topic}, ${basin}`, `visited by ${found.join(", ")}`, "click to open it"];
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const s = instance(instances, parentElement, () => create(parentElement));
  s.send = setTriggerValue;
  if (data) take(s, data);
  return () => dispose(instances, parentElement);
}
