"""Contrast of the texts in one component."""

from __future__ import annotations

from playwright.sync_api import Locator

# Each text's colour against the ground below it, mixed from all see-through layers; marks drawn by ::before too.
_RATIOS = """
root => {
  const read = (text) => { const n = text.match(/-?[\\d.]+(e-?\\d+)?/g).map(Number);
    const k = text.startsWith("color(") ? 255 : 1; return [n[0] * k, n[1] * k, n[2] * k, n[3] ?? 1] };
  const over = (top, below) => [0, 1, 2].map((k) => top[k] * top[3] + below[k] * (1 - top[3]));
  const ground = (el) => { const layers = [];
    for (let at = el; at; at = at.parentElement ?? at.getRootNode().host)
      layers.push(read(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]) };
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => { const l = c.map((v) => linear(v / 255));
    return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2] };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => p - q); return (y + 0.05) / (x + 0.05) };
  const found = [];
  for (const el of root.querySelectorAll("*")) {
    if (!el.checkVisibility({ visibilityProperty: true })) continue;
    const text = [...el.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("").trim();
    const below = ground(el);
    if (text) found.push([text, ratio(over(read(getComputedStyle(el).color), below), below)]);
    const mark = getComputedStyle(el, "::before");
    if (!["none", "normal", '""'].includes(mark.content)) {
      const under = over(read(mark.backgroundColor), below);
      found.push([mark.content, ratio(over(read(mark.color), under), under)]);
    }
  }
  return found;
}
"""


def contrasts(root: Locator) -> list[tuple[str, float]]:
    """Every visible text and its contrast, between 1 and 21."""
    return [(text, ratio) for text, ratio in root.evaluate(_RATIOS)]
