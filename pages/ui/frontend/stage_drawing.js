// The token strip's drawing and its answers to pointer and keyboard; the clock and the data are in stage.js.

// ---- drawing ----------------------------------------------------------------------------------------------------

function paint(s, values) {
  const still = reducedMotion();
  for (const c of s.chains) {
    c.el.style.setProperty("--accent", tauColor(c.tau));
    setAttribute(c.strip, "data-step", c.step);
    const plain = `step ${c.step.toLocaleString("en-US")}, sweep ${(c.sweep ?? c.step / s.free).toFixed(1)}`;
    setText(c.readout, `${c.said ? c.said.clock : plain}, tau ${tauText(c.tau)}`);
    setText(c.waited, c.end || (c.said?.wait ?? ""));
    setText(c.counters, c.said ? c.said.count : c.total);
    for (const i of c.dirty) drawToken(c, i);
    for (const i of c.glows) if (!still) glow(c.toks[i]);
    if (values) drawValues(s, c);
    c.dirty.clear();
    c.glows.clear();
  }
  s.stale = false;
  s.tip.refresh();
}

function drawToken(c, i) {
  const token = c.tokens[i], tok = c.toks[i], seen = visible(token.t);
  setText(tok.text, seen.text);
  const gap = i === 0 || token.glue ? "" : " ";
  if (tok.gap.data !== gap) tok.gap.data = gap;
  const list = tok.el.classList;
  list.toggle("stand-in", seen.standIn);
  list.toggle("long", seen.text.length > 20);
  list.toggle("oov", Boolean(token.oov));
  list.toggle("glue", gap === "" && i > 0);
  c.toks[i - 1]?.el.classList.toggle("joined", gap === "");
  list.toggle("now", i === c.now);
  list.toggle("fresh", i === c.now && c.changedAt[i] === c.step);
  const state = [token.locked && "locked", token.oov && "outside the model's sampled vocabulary"].filter(Boolean);
  setAttribute(tok.el, "aria-label", [`word ${i + 1}: ${seen.text}`, ...state].join(", "));
}

function glow(tok) {
  tok.glow?.cancel();
  tok.glow = tok.el.animate(
    [{ offset: 0, backgroundColor: "var(--glow)", boxShadow: "0 0 0.5em 0.1em var(--glow)" }],
    { duration: GLOW, easing: "ease-out" },
  );
}

function drawValues(s, c) {
  if (s.color === "none") return;
  c.toks.forEach((tok, i) => {
    const v = level(s, c, i);
    const text = v === null ? "" : v.toFixed(2);
    if (tok.value === text) return;
    tok.value = text;
    tok.el.classList.toggle("no-value", v === null);
    tok.el.style.setProperty("--v", text || "0");
  });
}

function level(s, c, i) {
  const clamp = (x) => Math.min(1, Math.max(0, x));
  if (s.color === "age") {
    return c.changedAt[i] === null ? 0 : clamp(1 - (c.step - c.changedAt[i]) / (3 * s.free));
  }
  const x = c.values[s.color][i];
  if (x === null) return null;
  return clamp(s.color === "entropy" ? x / 6 : s.color === "margin" ? (x + 5) / 15 : x);
}

function setColor(s, color) {
  const drawn = `${color} ${s.unit} ${s.free}`;
  if (s.drawn === drawn) return;
  s.drawn = drawn;
  s.color = color;
  s.root.dataset.color = color;
  const mode = MODES[color];
  s.legend.root.classList.toggle("off", !mode);
  if (mode) {
    setText(s.legend.name, mode.name);
    setText(s.legend.low, color === "age" && s.unit === "entry" ? `${3 * s.free} entries or more` : mode.low);
    setText(s.legend.high, mode.high);
    setText(s.legend.none, color === "age" ? "" : mode.none);
  }
  for (const c of s.chains) for (const tok of c.toks) tok.value = undefined;
  s.stale = true;
}

// Strips never get lower while a sentence is on the stage, so that nothing below them moves.
function keepHeight(s) {
  const width = s.grid.clientWidth;
  if (s.width !== width) {
    s.width = width;
    s.kept = 0;
    for (const c of s.chains) c.strip.style.minHeight = "";
  }
  const tallest = Math.max(0, ...s.chains.map((c) => c.strip.offsetHeight));
  if (tallest <= s.kept) return;
  s.kept = tallest + (s.kept === 0 ? spare(s, tallest) : 0);
  for (const c of s.chains) c.strip.style.minHeight = s.kept + "px";
}

// Room for one line more than the first sentence needs, if its last line is so full that it may soon spill over.
function spare(s, tallest) {
  const line = parseFloat(getComputedStyle(s.chains[0].strip).lineHeight);
  if (tallest < 2.5 * line) {
    // Two lines are always reserved: is there something on the second?
    const second = s.chains.some((c) => c.toks.some((tok) => tok.el.offsetTop - c.strip.offsetTop > line / 2));
    if (!second) return 0;
  }
  const full = s.chains.some((c) => {
    const last = c.toks[c.toks.length - 1]?.el.getBoundingClientRect(), strip = c.strip.getBoundingClientRect();
    return last && last.right - strip.left > 0.6 * strip.width;
  });
  return full ? line : 0;
}

// ---- hands ------------------------------------------------------------------------------------------------------

function locate(s, target) {
  const el = target.closest?.(".tok");
  const c = el && s.chains.find((chain) => chain.strip.contains(el));
  return c ? { c, pos: Number(el.dataset.pos) } : null;
}

function pick(s, target) {
  const at = locate(s, target);
  if (!at) return;
  setFocus(at.c, at.pos, false);
  s.send("pick", { chain: s.ids[at.c.index], pos: at.pos, step: at.c.step });
}

function setFocus(c, pos, move) {
  c.toks[c.focus] && (c.toks[c.focus].el.tabIndex = -1);
  c.focus = pos;
  c.toks[pos].el.tabIndex = 0;
  if (move) c.toks[pos].el.focus();
}

function onKey(s, event) {
  const at = locate(s, event.target);
  if (!at) return;
  const last = at.c.toks.length - 1;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    pick(s, event.target);
    return;
  }
  const to = {
    ArrowRight: Math.min(last, at.pos + 1), ArrowLeft: Math.max(0, at.pos - 1), Home: 0, End: last,
    ArrowDown: below(at.c, at.pos, 1), ArrowUp: below(at.c, at.pos, -1),
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  setFocus(at.c, to, true);
}

// The nearest word on the line above (-1) or below (1).
function below(c, pos, way) {
  const boxes = c.toks.map((tok) => tok.el.getBoundingClientRect());
  const here = boxes[pos], x = here.left + here.width / 2;
  let best = pos, least = Infinity;
  boxes.forEach((box, k) => {
    const dy = (box.top - here.top) * way;
    if (dy < here.height / 2) return;
    const cost = dy * 1000 + Math.abs(box.left + box.width / 2 - x);
    if (cost < least) [best, least] = [k, cost];
  });
  return best;
}

const times = (n, unit) => `${n} ${n === 1 ? unit : unit === "entry" ? "entries" : unit + "s"}`;

function describe(s, c, i) {
  const token = c.tokens[i], seen = visible(token.t);
  const age = c.changedAt[i] === null ? null : c.step - c.changedAt[i];
  const p = c.values.probability[i];
  return [
    seen.standIn ? `${seen.text} (shown in place of an invisible word)` : token.t,
    `word ${i + 1} of ${c.toks.length}` + (token.glue ? ", joined to the one before" : ""),
    age === null ? "unchanged since the start" : age === 0 ? "changed just now" : `changed ${times(age, s.unit)} ago`,
    c.waits[i] && `the sentence had waited ${c.waits[i]}`,
    `probability ${p === null ? "not yet known" : percent(p)}`,
    `entropy ${nats(c.values.entropy[i])}`,
    `margin ${nats(c.values.margin[i])}`,
    token.locked && "locked: it never changes",
    token.oov && "outside the model's sampled vocabulary",
  ];
}
