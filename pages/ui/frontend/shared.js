// Helpers in front of every component's source: colour of a temperature, elements, numbers, one tooltip per component.

// Cold blue, muted violet, hot orange, at 0, 0.5 and 1 of the slider's track. Python's tau_color has the same numbers.
const TAU_STOPS = [[0, 114, 178], [139, 111, 156], [213, 94, 0]];
const TAU_KNEE = 2, TAU_KNEE_AT = 0.7, TAU_MAX = 5;

function tauToTrack(tau) {
  if (!(tau > 0)) return 0;
  if (tau <= TAU_KNEE) return (tau / TAU_KNEE) * TAU_KNEE_AT;
  return Math.min(1, TAU_KNEE_AT + ((tau - TAU_KNEE) / (TAU_MAX - TAU_KNEE)) * (1 - TAU_KNEE_AT));
}

function trackToTau(u) {
  const x = Math.min(1, Math.max(0, u));
  if (x <= TAU_KNEE_AT) return (x / TAU_KNEE_AT) * TAU_KNEE;
  return TAU_KNEE + ((x - TAU_KNEE_AT) / (1 - TAU_KNEE_AT)) * (TAU_MAX - TAU_KNEE);
}

function trackColor(u) {
  const side = u < 0.5 ? 0 : 1, w = u * 2 - side;
  const part = (k) => Math.floor(TAU_STOPS[side][k] * (1 - w) + TAU_STOPS[side + 1][k] * w + 0.5);
  return "#" + [0, 1, 2].map((k) => part(k).toString(16).padStart(2, "0")).join("");
}

const tauColor = (tau) => trackColor(tauToTrack(tau));

function tauText(tau) {
  if (tau === null || tau === undefined || !Number.isFinite(tau)) return "unknown";
  if (tau !== 0 && tau < 0.005) return tau.toExponential(0);
  return tau < 100 ? tau.toFixed(2) : String(Math.round(tau));
}

function h(tag, className, text) {
  const el = document.createElement(tag);
  if (className) el.className = className;
  if (text !== undefined) el.textContent = text;
  return el;
}

function svg(tag, attributes) {
  const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) el.setAttribute(name, attributes[name]);
  return el;
}

function setText(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

function setAttribute(el, name, value) {
  if (el.getAttribute(name) !== String(value)) el.setAttribute(name, value);
}

const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// A token that would not be seen gets a stand-in: "empty", or its code points.
function visible(text) {
  if (text === "") return { text: "empty", standIn: true };
  if (/[^\s\p{Z}\p{Cf}\p{Cc}\p{M}]/u.test(text)) return { text, standIn: false };
  const codes = [...text].slice(0, 4).map((c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0"));
  return { text: codes.join(" "), standIn: true };
}

function percent(p) {
  if (p === null || p === undefined || !Number.isFinite(p)) return "unknown";
  if (p <= 0) return "0 %";
  if (p < 0.0001) return "<0.01 %";
  if (p < 0.01) return (100 * p).toFixed(2) + " %";
  if (p < 0.9995) return (100 * p).toFixed(1) + " %";
  return p < 0.99999 ? ">99.9 %" : "100 %";
}

function nats(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "not yet known";
  return (Math.abs(x) < 0.005 ? "0.00" : x.toFixed(2)) + " nats";
}

function count(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "unknown";
  if (x >= 1e300) return "more than 10^300";
  if (x >= 1e9) return "10^" + Math.log10(x).toFixed(1);
  return x >= 100 ? Math.round(x).toLocaleString("en-US") : String(Number(x.toPrecision(3)));
}

// "light" or "dark", from the ground that Streamlit's theme sets.
function markTheme(root) {
  const probe = root.__probe ?? (root.__probe = root.appendChild(h("i", "probe")));
  const rgb = (getComputedStyle(probe).backgroundColor.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
  root.dataset.theme = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2] < 128 ? "dark" : "light";
}

// One tooltip for the pointer and the keyboard. Lines are computed when it is shown, and again by refresh().
function makeTip(parent, root) {
  const box = h("div", "tip");
  box.setAttribute("role", "tooltip");
  box.id = "tip-" + Math.random().toString(36).slice(2);
  // The browser's top layer, where there is one: no ancestor clips it there.
  const layered = typeof box.showPopover === "function";
  if (layered) box.popover = "manual";
  else box.hidden = true;
  const open = (on) => {
    if (!layered) box.hidden = !on;
    else if (box.matches(":popover-open") !== on) box.togglePopover(on);
  };
  parent.appendChild(box);
  const sources = new WeakMap();
  let owner = null;
  const find = (node) => {
    for (let el = node; el && el !== root.parentNode; el = el.parentNode) if (sources.has(el)) return el;
    return null;
  };
  const fill = () => {
    const lines = (sources.get(owner)() ?? []).filter((line) => line);
    while (box.childNodes.length > lines.length) box.lastChild.remove();
    lines.forEach((line, k) => setText(box.childNodes[k] ?? box.appendChild(h("div")), line));
    return lines.length > 0;
  };
  const place = (at) => {
    const r = at ?? owner.getClientRects()[0] ?? owner.getBoundingClientRect();
    box.style.left = box.style.top = "0px";
    const b = box.getBoundingClientRect(); // not (0, 0) if an ancestor is what "fixed" is fixed to
    const x = Math.min(Math.max(8, r.left + r.width / 2 - b.width / 2), innerWidth - b.width - 8);
    const y = r.top - b.height - 10 > 4 ? r.top - b.height - 10 : r.bottom + 10;
    box.style.left = x - b.left + "px";
    box.style.top = y - b.top + "px";
  };
  const hide = () => {
    owner?.removeAttribute("aria-describedby");
    owner = null;
    open(false);
  };
  const show = (el, at) => {
    if (owner !== el) owner?.removeAttribute("aria-describedby");
    owner = el;
    open(true);
    if (!fill()) return hide();
    el.setAttribute("aria-describedby", box.id);
    place(at);
  };
  root.addEventListener("pointerover", (e) => {
    const el = find(e.target);
    if (el && el !== owner) show(el);
    else if (!el && owner) hide();
  });
  root.addEventListener("pointerleave", hide);
  root.addEventListener("focusin", (e) => {
    const el = find(e.target);
    if (el && e.target.matches(":focus-visible")) show(el);
  });
  root.addEventListener("focusout", hide);
  root.addEventListener("keydown", (e) => e.key === "Escape" && hide());
  return {
    of: (el, lines) => sources.set(el, lines),
    show,
    hide,
    refresh: () => owner && (owner.isConnected ? fill() || hide() : hide()),
    remove: () => box.remove(),
  };
}

// State of each mounted instance; a re-render finds it, an unmount takes everything down.
function instance(store, parent, create) {
  let found = store.get(parent);
  if (!found) {
    found = create();
    store.set(parent, found);
  }
  if (found.root.parentNode !== parent) parent.append(found.root);
  markTheme(found.root);
  return found;
}

function dispose(store, parent) {
  const found = store.get(parent);
  if (!found) return;
  store.delete(parent);
  found.stop?.();
  found.tip?.remove();
  found.root.remove();
}
