const instances = new WeakMap();
const HEIGHT = 170, LEFT = 48, BOTTOM = 26, TOP = 10; // pixels

function create(parent) {
  const root = h("div", "root coupling");
  root.dataset.testid = "coupling";
  const s = { root, columns: [], seen: null };
  s.titles = root.appendChild(h("div", "titles"));
  s.strip = root.appendChild(h("div", "strip"));
  s.said = root.appendChild(h("div", "said"));
  s.said.setAttribute("role", "status");
  s.plot = root.appendChild(svg("svg", { role: "img", class: "curve", height: HEIGHT }));
  s.axis = s.plot.appendChild(svg("g", { class: "axis" }));
  s.path = s.plot.appendChild(svg("path", { class: "line" }));
  s.meet = s.plot.appendChild(svg("g", { class: "meet" }));
  s.tip = makeTip(parent, root);
  s.sizes = new ResizeObserver(() => {
    if (s.width === root.clientWidth || !s.data) return;
    s.strip.style.minHeight = "";
    drawCurve(s, s.data);
  });
  s.sizes.observe(root);
  s.stop = () => s.sizes.disconnect();
  return s;
}

function draw(s, data) {
  const words = Array.isArray(data.words) ? data.words : [];
  if (s.epoch !== data.epoch) {
    s.epoch = data.epoch;
    s.seen = null;
    s.strip.style.minHeight = "";
  }
  s.data = data;
  s.strip.dataset.long = words.length > 16 ? "1" : "0";
  setText(s.titles, String(data.title ?? ""));
  while (s.columns.length > words.length) s.columns.pop().el.remove();
  while (s.columns.length < words.length) s.columns.push(createColumn(s, s.columns.length));
  words.forEach((word, k) => drawColumn(s, s.columns[k], word, s.seen?.[k]));
  s.seen = words;
  setText(s.said, String(data.said ?? ""));
  s.root.dataset.distance = words.filter((w) => w.x !== w.y).length;
  s.root.dataset.step = data.step ?? 0;
  // The strip never gets lower while one pair is shown, so that nothing below it moves.
  s.strip.style.minHeight = Math.max(parseFloat(s.strip.style.minHeight) || 0, s.strip.offsetHeight) + "px";
  drawCurve(s, data);
  s.tip.refresh();
}

function createColumn(s, k) {
  const el = s.strip.appendChild(h("span", "column"));
  el.dataset.testid = `pair-${k}`;
  const x = el.appendChild(h("span", "word x")), y = el.appendChild(h("span", "word y"));
  const column = { el, x, y, word: null };
  s.tip.of(el, () => [
    column.word.x === column.word.y ? `both: ${column.word.xt}` : `A: ${column.word.xt}, B: ${column.word.yt}`,
    `word ${k + 1}: ` + (column.word.x === column.word.y ? "the two chains agree here" : "they differ here"),
  ]);
  return column;
}

function drawColumn(s, column, word, before) {
  column.word = word;
  const same = word.x === word.y;
  setText(column.x, visible(String(word.xt)).text);
  setText(column.y, same ? "" : visible(String(word.yt)).text);
  column.el.classList.toggle("same", same);
  if (!before || reducedMotion()) return;
  const fused = same && before.x !== before.y;
  if (fused || word.x !== before.x) glow(column.x, fused);
  if (!same && word.y !== before.y) glow(column.y, false);
}

function glow(el, fused) {
  el.animate(
    [{ offset: 0, boxShadow: `0 0 0.8em 0.2em ${fused ? "#009e73" : "#e69f00"}` }, { offset: 1, boxShadow: "none" }],
    { duration: 1200, easing: "ease-out" },
  );
}

// Hamming distance as a share of the words, against sweeps; drawn in steps, for it is constant between two changes.
function drawCurve(s, data) {
  const width = (s.width = Math.max(240, s.root.clientWidth));
  s.plot.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  const curve = Array.isArray(data.curve) ? data.curve : [], far = Math.max(1, curve[curve.length - 1]?.[0] ?? 1);
  const x = (t) => LEFT + (t / far) * (width - LEFT - 8), y = (d) => TOP + (1 - d) * (HEIGHT - TOP - BOTTOM);
  s.axis.replaceChildren();
  const line = (x1, y1, x2, y2) => s.axis.appendChild(svg("line", { x1, y1, x2, y2 }));
  const write = (text, at, down, anchor) => {
    const el = s.axis.appendChild(svg("text", { x: at, y: down, "text-anchor": anchor }));
    el.textContent = text;
  };
  for (const d of [0, 0.5, 1]) {
    line(LEFT, y(d), width - 8, y(d));
    write(`${100 * d} %`, LEFT - 6, y(d) + 4, "end");
  }
  const whole = far < 10 ? far.toFixed(1) : String(Math.round(far));
  write("0", LEFT, HEIGHT - 8, "start");
  write(`${whole} sweeps`, width - 8, HEIGHT - 8, "end");
  write("share of words that differ", (LEFT + width) / 2, HEIGHT - 8, "middle");
  let path = "";
  curve.forEach(([t, d], k) => { path += k ? `H${x(t).toFixed(1)}V${y(d).toFixed(1)}` : `M${x(t).toFixed(1)} ${y(d).toFixed(1)}`; });
  s.path.setAttribute("d", path);
  s.plot.setAttribute("aria-label", String(data.said ?? ""));
  s.meet.replaceChildren();
  if (data.met === null || data.met === undefined) return;
  s.meet.appendChild(svg("line", { x1: x(data.met), y1: TOP, x2: x(data.met), y2: y(0) }));
  const label = s.meet.appendChild(svg("text", { x: x(data.met) - 6, y: TOP + 12, "text-anchor": "end" }));
  label.textContent = "they meet";
}

export default function (component) {
  const { data, parentElement } = component;
  const s = instance(instances, parentElement, () => create(parentElement));
  if (data) draw(s, data);
  return () => dispose(instances, parentElement);
}
