const LAG = 600; // ms of frames that may wait; a longer queue is played faster
const GLOW = 1200; // ms
const instances = new WeakMap();
const consumed = new Map(); // what a remounted strip has already played: key -> {epoch, seq}

const MODES = {
  age: { name: "age", low: "3 sweeps or more", high: "changed just now", none: "unchanged since the start" },
  probability: { name: "probability of the word", low: "0", high: "1", none: "not yet known" },
  entropy: { name: "entropy of the choice", low: "0 nats", high: "6 nats or more", none: "not yet known" },
  margin: { name: "margin over the next best", low: "-5 nats", high: "10 nats", none: "not yet known" },
};

const ICONS = {
  perfect: [["rect", { x: 2, y: 2, width: 12, height: 12, fill: "currentColor" }]],
  approximate: [
    ["rect", { x: 3, y: 3, width: 10, height: 10, fill: "none", stroke: "currentColor", "stroke-width": 2 }],
    ["rect", { x: 2, y: 2, width: 6, height: 12, fill: "currentColor" }],
  ],
  wandering: [["circle", { cx: 8, cy: 8, r: 5.5, fill: "none", stroke: "currentColor", "stroke-width": 2 }]],
  unknown: [["circle", { cx: 8, cy: 8, r: 5.5, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": "2 2.3" }]],
};

// ---- building ---------------------------------------------------------------------------------------------------

function create(parent, key) {
  const root = h("div", "root stage");
  root.dataset.testid = "stage";
  root.dataset.updates = "0";
  root.dataset.missed = "0";
  const holder = root.appendChild(h("div", "holder"));
  const grid = holder.appendChild(h("div", "grid"));
  const legend = root.appendChild(h("div", "legend"));
  const s = { root, grid, key, chains: [], queue: [], waiting: 0, due: 0, timer: null, updates: 0, missed: 0 };
  s.legend = { root: legend, name: h("span", "legend-name"), low: h("span"), ramp: h("span", "ramp"), high: h("span") };
  s.legend.none = h("span");
  s.legend.swatch = h("span", "swatch");
  legend.append(s.legend.name, s.legend.low, s.legend.ramp, s.legend.high, s.legend.swatch, s.legend.none);
  s.tip = makeTip(parent, root);
  s.sizes = new ResizeObserver(() => keepHeight(s));
  root.addEventListener("click", (event) => pick(s, event.target));
  root.addEventListener("keydown", (event) => onKey(s, event));
  s.wake = () => document.hidden && pump(s);
  document.addEventListener("visibilitychange", s.wake);
  s.stop = () => {
    clearTimeout(s.timer);
    s.sizes.disconnect();
    document.removeEventListener("visibilitychange", s.wake);
  };
  return s;
}

function createChain(s, index) {
  const el = h("section", "chain");
  const head = el.appendChild(h("div", "chain-head"));
  const title = head.appendChild(h("span", "title"));
  const readout = head.appendChild(h("span", "readout"));
  readout.dataset.testid = `readout-${index}`;
  const strip = el.appendChild(h("div", "strip"));
  strip.dataset.testid = `strip-${index}`;
  strip.setAttribute("role", "group");
  const foot = el.appendChild(h("div", "chain-foot"));
  const badge = foot.appendChild(h("span", "badge"));
  badge.dataset.testid = `badge-${index}`;
  badge.tabIndex = 0;
  const icon = badge.appendChild(svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }));
  const words = badge.appendChild(h("span", "badge-text"));
  const stamp = badge.appendChild(h("span", "stamp"));
  const tally = foot.appendChild(h("span", "tally"));
  const waited = tally.appendChild(h("span", "waited"));
  waited.dataset.testid = `waited-${index}`;
  const counters = tally.appendChild(h("span", "counters"));
  const c = { el, index, title, readout, strip, badge, icon, words, stamp, waited, counters, toks: [], tip: "", focus: 0 };
  s.tip.of(badge, () => [words.textContent, c.tip]);
  s.sizes.observe(strip);
  return c;
}

function createToken(s, c, pos) {
  const el = h("span", "tok");
  el.dataset.testid = `tok-${c.index}-${pos}`;
  el.dataset.pos = pos;
  el.setAttribute("role", "button");
  el.tabIndex = -1;
  const gap = document.createTextNode(" ");
  const text = el.appendChild(h("span", "text"));
  const tok = { el, gap, text, glow: null };
  s.tip.of(el, () => describe(s, c, pos));
  return tok;
}

// ---- data in ----------------------------------------------------------------------------------------------------

function receive(s, data) {
  const shape = data.chains.map((c) => `${c.id} ${c.tokens.length}`).join("\n");
  // A lower block number in the same epoch comes from a new server session.
  const fresh = s.epoch !== data.epoch || s.shape !== shape || data.seq < s.seq;
  const done = consumed.get(s.key);
  const again = fresh && done && done.epoch === data.epoch && done.seq === data.seq;
  s.frameMs = Math.max(1, data.frame_ms || 100);
  s.free = Math.max(1, data.n_free || 1);
  s.unit = data.unit ?? "step";
  setAttribute(s.root, "data-unit", s.unit);
  s.playing = Boolean(data.playing);
  setAttribute(s.root, "data-playing", s.playing);
  if (fresh) {
    s.queue = [];
    s.waiting = 0;
    s.due = 0;
    if (s.shape !== shape) rebuild(s, data.chains);
    data.chains.forEach((d, k) => snapshot(s, s.chains[k], d));
    data.chains.forEach((d, k) => about(s, s.chains[k], d, false));
    s.shape = shape;
    s.epoch = data.epoch;
    enqueue(s, data);
  } else if (data.seq > s.seq) {
    if (data.seq > s.seq + 1) {
      s.root.dataset.missed = ++s.missed;
      s.queue.push({ snapshot: data.chains });
    }
    enqueue(s, data);
  } else {
    s.queue.push({ about: data.chains });
  }
  s.seq = data.seq;
  consumed.set(s.key, { epoch: data.epoch, seq: data.seq });
  data.chains.forEach((d, k) => direct(s.chains[k], d));
  setColor(s, MODES[data.color] ? data.color : "none");
  if (again) flush(s);
  pump(s);
}

function rebuild(s, chains) {
  s.tip.hide();
  for (const c of s.chains) s.sizes.unobserve(c.strip);
  s.grid.replaceChildren();
  s.chains = chains.map((d, index) => {
    const c = createChain(s, index);
    c.toks = d.tokens.map((_, pos) => createToken(s, c, pos));
    for (const tok of c.toks) c.strip.append(tok.gap, tok.el);
    s.grid.append(c.el);
    return c;
  });
  const longest = Math.max(0, ...chains.map((d) => d.tokens.length));
  s.grid.dataset.count = chains.length;
  s.grid.dataset.long = longest > 70 ? "2" : longest > 30 ? "1" : "0";
  s.kept = 0;
}

function snapshot(s, c, d) {
  c.step = d.step;
  c.sweep = d.sweep ?? null;
  c.said = d.said ?? null;
  c.waits = d.tokens.map((_, i) => d.waits?.[i] ?? null);
  c.tokens = d.tokens.map((t) => ({ ...t }));
  c.changedAt = d.tokens.map((_, i) => (d.age?.[i] == null ? null : d.step - d.age[i]));
  c.values = {};
  for (const name of ["probability", "entropy", "margin"]) c.values[name] = d.tokens.map((_, i) => d[name]?.[i] ?? null);
  c.tau = d.tau;
  c.now = null;
  for (const tok of c.toks) tok.glow?.cancel();
  c.dirty = new Set(c.toks.keys());
  c.glows = new Set();
  s.stale = true;
}

function enqueue(s, data) {
  const longest = Math.max(0, ...data.chains.map((d) => d.frames?.length ?? 0));
  if (!s.waiting) s.due = Math.max(s.due, performance.now());
  for (let k = 0; k < longest; k++) {
    // A chain that begins within the block has fewer frames: they belong to the block's end.
    s.queue.push({ frames: data.chains.map((d) => d.frames?.[k - longest + d.frames.length]) });
  }
  s.waiting += longest;
  s.queue.push({ about: data.chains });
}

// What belongs to the end of a block: badge, counters and the temperature of the next step.
function about(s, c, d, settled = true) {
  if (settled && d.tau !== undefined) c.tau = d.tau;
  const badge = d.badge ?? { kind: "unknown", text: "", tip: "" };
  const kind = ICONS[badge.kind] ? badge.kind : "unknown";
  if (c.badge.dataset.kind !== kind) {
    c.badge.dataset.kind = kind;
    c.icon.replaceChildren(...ICONS[kind].map(([tag, attributes]) => svg(tag, attributes)));
  }
  setText(c.words, badge.text ?? "");
  // After each skipped wait the whole sentence is looked at: then the verdict is of what is shown.
  const stamped = kind !== "unknown" && Number.isFinite(badge.step) && !(s.unit === "entry" && badge.step === c.step);
  setText(c.stamp, stamped ? `at ${s.unit} ${badge.step.toLocaleString("en-US")}` : "");
  c.tip = badge.tip ?? "";
  c.total = d.counters ?? "";
  c.end = d.end ?? "";
  s.stale = true;
}

// What a click changes shows at once, whatever is still waiting to be played.
function direct(c, d) {
  setText(c.title, d.title ?? "");
  setAttribute(c.strip, "aria-label", `${d.title || "chain"}: words`);
  if (d.selected != null && d.selected !== c.selected) c.focus = d.selected;
  c.selected = d.selected ?? null;
  c.toks.forEach((tok, i) => {
    c.tokens[i].locked = Boolean(d.tokens[i].locked);
    tok.el.classList.toggle("locked", c.tokens[i].locked);
    tok.el.classList.toggle("selected", i === c.selected);
    setAttribute(tok.el, "aria-pressed", i === c.selected);
    tok.el.tabIndex = i === Math.min(c.focus, c.toks.length - 1) ? 0 : -1;
    if (c.tokens[i].locked && !tok.lock) tok.lock = tok.el.appendChild(h("i", "lock"));
  });
}

// ---- the clock --------------------------------------------------------------------------------------------------

function advance(s, until) {
  let played = 0;
  while (s.queue.length) {
    const head = s.queue[0];
    if (head.frames) {
      if (s.due > until) break;
      s.due += Math.min(s.frameMs, LAG / s.waiting);
      s.waiting -= 1;
      head.frames.forEach((frame, k) => frame && play(s.chains[k], frame));
      played += 1;
    } else if (head.snapshot) head.snapshot.forEach((d, k) => snapshot(s, s.chains[k], d));
    else head.about.forEach((d, k) => about(s, s.chains[k], d));
    s.queue.shift();
  }
  return played;
}

function pump(s) {
  clearTimeout(s.timer);
  s.timer = null;
  const now = performance.now();
  // A hidden tab's timers are slowed down by the browser: show the end of the block.
  const played = advance(s, document.hidden ? Infinity : now);
  if (played) s.root.dataset.updates = ++s.updates;
  if (played || s.stale) paint(s, true);
  if (s.queue.length) s.timer = setTimeout(() => pump(s), Math.max(4, s.due - performance.now()));
}

function flush(s) {
  advance(s, Infinity);
  s.due = 0;
  for (const c of s.chains) c.glows.clear();
}

function play(c, frame) {
  const token = c.tokens[frame.i];
  if (!token) return;
  Object.assign(token, { t: frame.t, glue: frame.glue, oov: frame.oov });
  c.step = frame.s;
  c.sweep = frame.w ?? null;
  c.said = frame.said ?? null;
  c.end = "";
  c.tau = frame.tau;
  c.values.probability[frame.i] = frame.p ?? null;
  c.values.entropy[frame.i] = frame.h ?? null;
  c.values.margin[frame.i] = frame.m ?? null;
  if (frame.c) {
    c.changedAt[frame.i] = frame.s;
    c.waits[frame.i] = frame.said?.took ?? null;
    c.glows.add(frame.i);
  }
  if (c.now !== null) c.dirty.add(c.now);
  c.now = frame.i;
  c.dirty.add(frame.i);
}

export default function (component) {
  const { data, parentElement, setTriggerValue, key } = component;
  const s = instance(instances, parentElement, () => create(parentElement, key));
  s.send = setTriggerValue;
  if (data?.chains) {
    s.ids = data.chains.map((c) => c.id);
    receive(s, data);
  }
  return () => dispose(instances, parentElement);
}
