const ROWS = 15;
const SCALES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1];
const instances = new WeakMap();

function createRow(s, parent, role) {
  const el = parent.appendChild(h(role === "other" ? "div" : "button", `row ${role}`));
  const row = { el, rank: h("span", "rank"), word: h("span", "word"), text: h("span", "text"), plot: h("span", "plot") };
  row.tag = h("span", "tag", "now");
  row.bar = row.plot.appendChild(h("span", "bar"));
  row.mark = row.plot.appendChild(h("span", "mark"));
  row.share = h("span", "share");
  row.word.append(row.text, row.tag);
  el.append(row.rank, row.word, row.plot, row.share);
  if (role !== "other") {
    el.type = "button";
    el.tabIndex = -1;
    el.addEventListener("click", () => row.data && s.send("choose", { id: row.data.id }));
    s.tip.of(el, () => row.data && describe(s, row.data));
  }
  return row;
}

function create(parent) {
  const root = h("div", "root conditional");
  root.dataset.testid = "conditional";
  const head = root.appendChild(h("div", "head"));
  const s = { root, focus: 0 };
  s.title = head.appendChild(h("div", "title"));
  s.subtitle = head.appendChild(h("div", "subtitle"));
  s.tip = makeTip(parent, root);
  const body = root.appendChild(h("div", "body"));
  const scale = body.appendChild(h("div", "scale"));
  scale.append(h("span"), h("span"));
  const axis = scale.appendChild(h("span", "axis"));
  s.low = axis.appendChild(h("span", "", "0"));
  s.high = axis.appendChild(h("span"));
  scale.append(h("span"));
  s.list = body.appendChild(h("div", "list"));
  s.list.setAttribute("role", "group");
  s.rows = Array.from({ length: ROWS }, () => createRow(s, s.list, "top"));
  s.extra = createRow(s, s.list, "extra");
  s.other = createRow(s, body, "other");
  setText(s.other.text, "all other words");
  s.empty = body.appendChild(h("div", "empty"));
  s.rows.forEach((row, k) => (row.el.dataset.testid = `cond-${k}`));
  s.extra.el.dataset.testid = "cond-current";
  s.list.addEventListener("keydown", (event) => onKey(s, event));
  const foot = root.appendChild(h("div", "foot"));
  s.entropy = foot.appendChild(h("div", "entropy"));
  s.key = foot.appendChild(h("div", "key"));
  s.key.append(h("span", "key-bar"), h("span", "key-tau"), h("span", "key-mark"), h("span", "", "at tau 1"));
  s.note = foot.appendChild(h("div", "note"));
  return s;
}

function live(s) {
  return [...s.rows, s.extra].filter((row) => row.data);
}

function onKey(s, event) {
  const rows = live(s), at = rows.findIndex((row) => row.el === event.target);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  s.focus = Math.min(rows.length - 1, Math.max(0, to));
  rows.forEach((row, k) => (row.el.tabIndex = k === s.focus ? 0 : -1));
  rows[s.focus].el.focus();
}

function describe(s, d) {
  const seen = visible(d.t);
  return [
    seen.standIn ? `${seen.text} (an invisible word)` : d.t,
    `rank ${d.rank}`,
    `${percent(d.p)} at tau ${tauText(s.tau)}`,
    `${percent(d.p1)} at tau 1`,
    d.current ? "the word that is there now" : "click: put this word here",
  ];
}

function fill(s, row, d) {
  row.data = d ?? null;
  row.el.classList.toggle("gone", !d);
  if ("disabled" in row.el) row.el.disabled = !d;
  if (!d) return;
  const seen = visible(d.t);
  setText(row.text, seen.text);
  row.word.classList.toggle("stand-in", seen.standIn);
  setText(row.rank, String(d.rank));
  setText(row.share, percent(d.p));
  row.el.classList.toggle("current", Boolean(d.current));
  row.bar.style.width = 100 * Math.min(1, d.p / s.scale) + "%";
  row.mark.style.left = 100 * Math.min(1, d.p1 / s.scale) + "%";
  const now = d.current ? ", the word that is there now" : ", put this word here";
  setAttribute(row.el, "aria-label", `${seen.text}, ${percent(d.p)}${now}`);
}

function draw(s, data) {
  const rows = (data.rows ?? []).slice(0, ROWS);
  const none = rows.length === 0;
  s.root.classList.toggle("none", none);
  setText(s.empty, none ? data.empty || "Click a word to see what the model would put there." : "");
  setText(s.title, data.title ?? "");
  setText(s.subtitle, data.subtitle ?? "");
  setText(s.note, data.note ?? "");
  s.tau = data.tau ?? 1;
  s.root.style.setProperty("--accent", tauColor(s.tau));
  const extra = data.current ?? null;
  const most = Math.max(0, ...[...rows, ...(extra ? [extra] : [])].flatMap((d) => [d.p, d.p1]));
  s.scale = SCALES.find((x) => x >= most * 0.999) ?? 1;
  setText(s.high, `${Math.round(100 * s.scale)} %`);
  s.rows.forEach((row, k) => fill(s, row, rows[k]));
  fill(s, s.extra, extra && { ...extra, current: true });
  const other = Number.isFinite(data.other) && !none ? Math.max(0, data.other) : null;
  s.other.el.classList.toggle("gone", other === null);
  if (other !== null) {
    setText(s.other.share, percent(other));
    s.other.bar.style.width = 100 * Math.min(1, other / s.scale) + "%";
    s.other.el.classList.toggle("over", other > s.scale);
  }
  const known = !none && data.entropy !== undefined;
  setText(s.entropy, known ? `entropy ${nats(data.entropy)} at tau ${tauText(s.tau)}, ${nats(data.entropy1)} at tau 1` : "");
  s.key.classList.toggle("gone", none);
  setText(s.key.childNodes[1], `at tau ${tauText(s.tau)}`);
  setAttribute(s.list, "aria-label", data.title || "words the model would put here");
  const there = live(s);
  s.focus = Math.min(s.focus, Math.max(0, there.length - 1));
  there.forEach((row, k) => (row.el.tabIndex = k === s.focus ? 0 : -1));
  s.tip.refresh();
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const s = instance(instances, parentElement, () => create(parentElement));
  s.send = setTriggerValue;
  if (data) draw(s, data);
  return () => dispose(instances, parentElement);
}
