const instances = new WeakMap();
let clicks = 0; // goes on when a strip is taken down and drawn again

function create(parent) {
  const root = h("div", "root picker");
  root.dataset.testid = "word-picker";
  const s = { root, toks: [], tokens: [], picked: [], focus: 0, kept: 0 };
  s.label = root.appendChild(h("div", "label"));
  s.strip = root.appendChild(h("div", "strip"));
  s.strip.setAttribute("role", "group");
  s.tip = makeTip(parent, root);
  s.sizes = new ResizeObserver(() => keepHeight(s));
  s.sizes.observe(s.strip);
  s.strip.addEventListener("click", (event) => pick(s, event.target));
  s.strip.addEventListener("keydown", (event) => onKey(s, event));
  s.stop = () => s.sizes.disconnect();
  return s;
}

function createToken(s, pos) {
  const el = h("span", "tok");
  el.dataset.testid = `word-${pos}`;
  el.dataset.pos = pos;
  el.setAttribute("role", "button");
  const tok = { el, gap: document.createTextNode(""), text: el.appendChild(h("span", "text")) };
  s.tip.of(el, () => describe(s, pos));
  s.strip.append(tok.gap, el);
  return tok;
}

function draw(s, data) {
  const list = Array.isArray(data.tokens) ? data.tokens : [];
  s.tokens = list.map((d) => ({ ...d, t: String(d?.t ?? "") }));
  s.picked = (Array.isArray(data.picked) ? data.picked : []).slice(0, 2);
  if (s.rev !== data.rev) {
    s.rev = data.rev;
    s.focus = s.picked[0] ?? 0;
    s.kept = 0;
    s.strip.style.minHeight = "";
  }
  const label = String(data.label ?? "");
  setText(s.label, label);
  setAttribute(s.strip, "aria-label", label || "words of the sentence");
  s.strip.dataset.long = list.length > 70 ? "2" : list.length > 26 ? "1" : "0";
  while (s.toks.length > list.length) {
    const tok = s.toks.pop();
    tok.gap.remove();
    tok.el.remove();
  }
  while (s.toks.length < list.length) s.toks.push(createToken(s, s.toks.length));
  s.focus = Math.max(0, Math.min(list.length - 1, s.focus));
  s.toks.forEach((tok, i) => drawToken(s, tok, i));
  s.tip.refresh();
  keepHeight(s);
}

function drawToken(s, tok, i) {
  const token = s.tokens[i], seen = visible(token.t), place = s.picked.indexOf(i) + 1;
  const glued = Boolean(token.glue) && i > 0;
  setText(tok.text, seen.text);
  const gap = i === 0 || glued ? "" : " ";
  if (tok.gap.data !== gap) tok.gap.data = gap;
  const list = tok.el.classList;
  list.toggle("stand-in", seen.standIn);
  list.toggle("long", seen.text.length > 20);
  list.toggle("oov", Boolean(token.oov));
  list.toggle("glue", glued);
  s.toks[i - 1]?.el.classList.toggle("joined", glued);
  if (place) setAttribute(tok.el, "data-mark", place);
  else tok.el.removeAttribute("data-mark");
  if (token.oov) {
    tok.el.removeAttribute("aria-pressed");
    setAttribute(tok.el, "aria-disabled", "true");
  } else {
    tok.el.removeAttribute("aria-disabled");
    setAttribute(tok.el, "aria-pressed", place > 0);
  }
  const state = [place && `picked as word ${place}`, token.oov && "cannot be picked"].filter(Boolean);
  setAttribute(tok.el, "aria-label", [seen.text, ...state].join(", "));
  tok.el.tabIndex = i === s.focus ? 0 : -1;
}

// While one sentence is shown the strip never gets lower, so that nothing below it moves.
function keepHeight(s) {
  const width = s.root.clientWidth;
  if (s.width !== width) {
    s.width = width;
    s.kept = 0;
    s.strip.style.minHeight = "";
  }
  if (s.strip.offsetHeight <= s.kept) return;
  s.kept = s.strip.offsetHeight;
  s.strip.style.minHeight = s.kept + "px";
}

// ---- hands ------------------------------------------------------------------------------------------------------

function locate(s, target) {
  const el = target.closest?.(".tok");
  return el && s.strip.contains(el) ? Number(el.dataset.pos) : null;
}

function pick(s, target) {
  const pos = locate(s, target);
  if (pos === null) return;
  setFocus(s, pos, false);
  if (s.tokens[pos].oov) return s.tip.show(s.toks[pos].el);
  s.send("pick", { pos, n: ++clicks, rev: s.rev ?? null });
  if (reducedMotion()) return;
  // The answer may take a moment: the word says at once that it was hit.
  s.toks[pos].el.animate(
    [{ offset: 0, backgroundColor: "var(--glow)", boxShadow: "0 0 0.5em 0.1em var(--glow)" }],
    { duration: 1200, easing: "ease-out" },
  );
}

function setFocus(s, pos, move) {
  if (s.toks[s.focus]) s.toks[s.focus].el.tabIndex = -1;
  s.focus = pos;
  s.toks[pos].el.tabIndex = 0;
  if (move) s.toks[pos].el.focus();
}

function onKey(s, event) {
  const pos = locate(s, event.target);
  if (pos === null) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    if (!event.repeat) pick(s, event.target);
    return;
  }
  const last = s.toks.length - 1;
  const to = {
    ArrowRight: Math.min(last, pos + 1), ArrowLeft: Math.max(0, pos - 1), Home: 0, End: last,
    ArrowDown: below(s, pos, 1), ArrowUp: below(s, pos, -1),
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  setFocus(s, to, true);
}

// The nearest word on the line above (-1) or below (1).
function below(s, pos, way) {
  const boxes = s.toks.map((tok) => tok.el.getBoundingClientRect());
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

function describe(s, i) {
  const token = s.tokens[i], seen = visible(token.t), place = s.picked.indexOf(i) + 1;
  const said = token.tip ? String(token.tip) : "";
  return [
    seen.standIn ? `${seen.text} (shown in place of an invisible word)` : token.t,
    `word ${i + 1} of ${s.toks.length} in the sentence` + (place ? `, picked as word ${place}` : ""),
    said || (token.oov ? "outside the model's sampled vocabulary: it cannot be a corner" : ""),
  ];
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const s = instance(instances, parentElement, () => create(parentElement));
  s.send = setTriggerValue;
  if (data) draw(s, data);
  return () => dispose(instances, parentElement);
}
