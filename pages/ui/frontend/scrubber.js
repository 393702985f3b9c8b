const SEND_EVERY = 250; // ms between two places sent in a drag
const instances = new WeakMap();

function create(parent) {
  const root = h("div", "root scrubber");
  root.dataset.testid = "scrubber";
  const head = root.appendChild(h("div", "head"));
  const label = head.appendChild(h("span", "label"));
  const note = head.appendChild(h("span", "note"));
  const range = root.appendChild(h("input", "range"));
  range.type = "range";
  range.min = "0";
  range.step = "1";
  parent.appendChild(root);
  const s = { root, label, note, range, drag: false, timer: null, last: -Infinity, sent: null };
  const send = () => {
    clearTimeout(s.timer);
    s.timer = null;
    s.last = performance.now();
    const step = Number(range.value);
    if (step === s.sent) return;
    s.sent = step;
    s.emit("seek", { step });
  };
  range.addEventListener("pointerdown", () => (s.drag = true));
  range.addEventListener("input", () => {
    say(s);
    const wait = s.last + SEND_EVERY - performance.now();
    if (wait <= 0) send();
    else s.timer ??= setTimeout(send, wait);
  });
  // A thumb pressed and let go where it is changes nothing: no change event comes.
  for (const end of ["pointerup", "pointercancel", "blur"]) range.addEventListener(end, () => (s.drag = false));
  range.addEventListener("change", () => {
    s.drag = false;
    send();
  });
  s.stop = () => clearTimeout(s.timer);
  return s;
}

function say(s) {
  const text = (x) => Number(x).toLocaleString("en-US");
  setText(s.label, `${s.unit} ${text(s.range.value)} of ${text(s.range.max)}`);
  s.range.style.setProperty("--at", (100 * s.range.value) / Math.max(1, Number(s.range.max)) + "%");
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const s = instance(instances, parentElement, () => create(parentElement));
  s.emit = setTriggerValue;
  if (data) {
    s.unit = data.unit ?? "step";
    if (!s.drag) {
      setAttribute(s.range, "max", Math.max(data.head, 1));
      s.range.value = String(data.cursor);
      s.sent = data.cursor;
      say(s);
      if (data.head === 0) setText(s.label, `${s.unit} 0`);
    }
    s.range.disabled = Boolean(data.disabled);
    setAttribute(s.range, "aria-label", s.unit);
    setText(s.note, data.note);
  }
  return () => dispose(instances, parentElement);
}
