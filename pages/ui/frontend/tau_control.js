const SEND_EVERY = 450; // ms between two values sent in a drag
const TAU_LIMIT = 1000;
const instances = new WeakMap();

function region(tau) {
  if (tau === 0) return "frozen: always the best word";
  if (tau < 0.7) return "cold";
  if (tau < 1) return "cool";
  if (tau === 1) return "the model's own";
  if (tau < 1.5) return "warm";
  if (tau <= 2) return "tipping region";
  return tau <= 3.5 ? "hot" : "very hot";
}

function snap(tau) {
  const step = tau < TAU_KNEE ? 0.01 : 0.05;
  return Math.min(TAU_MAX, Math.max(0, Number((Math.round(tau / step) * step).toFixed(2))));
}

function typed(text) {
  const value = text.trim().replace(",", ".");
  if (!/^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value)) return null;
  const tau = Number(value);
  return Number.isFinite(tau) && tau <= TAU_LIMIT ? tau : null;
}

const shown = (tau) => String(Number(tau.toPrecision(6)));

function create(parent) {
  const root = h("div", "root tau");
  const head = root.appendChild(h("div", "head"));
  const label = head.appendChild(h("span", "label"));
  const word = head.appendChild(h("span", "word"));
  const line = root.appendChild(h("div", "line"));
  line.appendChild(h("span", "end", "cold"));
  const slider = line.appendChild(h("div", "slider"));
  line.appendChild(h("span", "end", "hot"));
  const field = line.appendChild(h("input", "field"));
  const track = slider.appendChild(h("div", "track"));
  const tipping = slider.appendChild(h("div", "tipping"));
  const thumb = slider.appendChild(h("div", "thumb"));
  for (const mark of [0, 0.5, 1, 1.5, 2, 3, 5]) {
    const tick = slider.appendChild(h("span", "tick", String(mark)));
    tick.style.left = 100 * tauToTrack(mark) + "%";
  }
  const error = root.appendChild(h("div", "error"));
  error.setAttribute("role", "status");
  error.dataset.testid = "tau-error";
  slider.dataset.testid = "tau-slider";
  field.dataset.testid = "tau-field";
  slider.setAttribute("role", "slider");
  slider.setAttribute("aria-valuemin", "0");
  slider.setAttribute("aria-valuemax", String(TAU_MAX));
  field.type = "text";
  field.inputMode = "decimal";
  field.autocomplete = "off";
  field.spellcheck = false;
  const stops = Array.from({ length: 21 }, (_, k) => `${trackColor(k / 20)} ${5 * k}%`);
  track.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  tipping.style.left = 100 * tauToTrack(1.5) + "%";
  tipping.style.width = 100 * (tauToTrack(2) - tauToTrack(1.5)) + "%";

  const s = { root, label, word, slider, thumb, field, error, tau: 0, rev: null, drag: false, dirty: false };
  s.tip = makeTip(parent, root);
  s.tip.of(tipping, () => [
    "Tipping region, about 1.5 to 2",
    "Below it chains were seen to stay near one sentence for very long; above it they wander freely (arXiv 2605.16378).",
  ]);
  s.timer = null;
  s.last = -Infinity;

  const send = () => {
    clearTimeout(s.timer);
    s.timer = null;
    s.last = performance.now();
    s.emit("tau", { tau: s.tau, rev: s.rev });
  };
  const sendSoon = () => {
    const wait = s.last + SEND_EVERY - performance.now();
    if (wait <= 0) send();
    else s.timer ??= setTimeout(send, wait);
  };
  s.move = (tau) => {
    if (tau === s.tau) return;
    s.tau = tau;
    s.dirty = false;
    draw(s);
    sendSoon();
  };
  const at = (event) => {
    const box = track.getBoundingClientRect();
    s.move(snap(trackToTau((event.clientX - box.left) / box.width)));
  };
  slider.addEventListener("pointerdown", (event) => {
    if (s.disabled || event.button !== 0) return;
    slider.setPointerCapture(event.pointerId);
    s.drag = true;
    slider.focus({ focusVisible: false });
    event.preventDefault();
    at(event);
  });
  slider.addEventListener("pointermove", (event) => s.drag && at(event));
  const release = () => {
    if (!s.drag) return;
    s.drag = false;
    send();
  };
  slider.addEventListener("pointerup", release);
  slider.addEventListener("pointercancel", release);
  slider.addEventListener("lostpointercapture", release);
  slider.addEventListener("keydown", (event) => {
    if (s.disabled) return;
    const up = s.tau < TAU_KNEE ? 0.01 : 0.05, down = s.tau <= TAU_KNEE ? 0.01 : 0.05;
    const now = Math.min(s.tau, TAU_MAX);
    const to = {
      ArrowRight: now + up, ArrowUp: now + up, ArrowLeft: now - down, ArrowDown: now - down,
      PageUp: now + 0.1, PageDown: now - 0.1, Home: 0, End: TAU_MAX,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    s.move(snap(to));
  });
  const commit = () => {
    if (!s.dirty) return;
    const tau = typed(field.value);
    if (tau === null) {
      setText(error, `Type a number from 0 to ${TAU_LIMIT}, for example 0.7.`);
      field.setAttribute("aria-invalid", "true");
      return;
    }
    s.dirty = false;
    const same = tau === s.tau;
    s.tau = tau;
    draw(s);
    if (!same) send();
  };
  field.addEventListener("input", () => (s.dirty = true));
  field.addEventListener("change", commit);
  field.addEventListener("blur", commit);
  field.addEventListener("focus", () => field.select());
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") commit();
    else if (event.key === "Escape") {
      s.dirty = false;
      draw(s);
    } else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !s.dirty) {
      event.preventDefault();
      const step = (event.key === "ArrowUp" ? 1 : -1) * (s.tau < TAU_KNEE ? 0.01 : 0.05);
      s.move(Math.max(0, Number((s.tau + step).toFixed(2))));
    }
  });
  s.stop = () => clearTimeout(s.timer);
  return s;
}

function draw(s) {
  const color = tauColor(s.tau);
  s.root.style.setProperty("--accent", color);
  s.root.dataset.tau = String(s.tau);
  s.root.dataset.color = color;
  s.thumb.style.left = 100 * tauToTrack(s.tau) + "%";
  setText(s.word, region(s.tau));
  s.slider.setAttribute("aria-valuenow", String(Math.min(s.tau, TAU_MAX)));
  s.slider.setAttribute("aria-valuetext", `${shown(s.tau)}, ${region(s.tau)}`);
  if (s.dirty) return; // the text belongs to whoever is typing it
  if (s.field.value !== shown(s.tau)) s.field.value = shown(s.tau);
  setText(s.error, "");
  s.field.removeAttribute("aria-invalid");
}

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const s = instance(instances, parentElement, () => create(parentElement));
  s.emit = setStateValue;
  if (data) {
    s.disabled = Boolean(data.disabled);
    setText(s.label, data.label);
    s.slider.setAttribute("aria-label", data.label);
    s.field.setAttribute("aria-label", `${data.label}, typed value`);
    s.slider.setAttribute("aria-disabled", String(s.disabled));
    s.slider.tabIndex = s.disabled ? -1 : 0;
    s.field.disabled = s.disabled;
    s.root.classList.toggle("disabled", s.disabled);
    if (s.rev !== data.rev) {
      // A finger on the slider wins: its next value carries the new number.
      if (!s.drag) s.tau = data.tau;
      s.rev = data.rev;
    }
    draw(s);
  }
  return () => dispose(instances, parentElement);
}
