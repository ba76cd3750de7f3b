// The texts on the page that do not stand out from their ground by 4.5 to 1, as WCAG AA asks.
() => {
  const numbers = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
  const linear = (v) => (v / 255 <= 0.03928 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const low = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text || !node.checkVisibility()) continue;
    if (node.closest("svg, script, :disabled, .hidden-label")) continue;
    const front = luminance(numbers(getComputedStyle(node).color));
    const back = luminance(ground(node));
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (ratio < 4.5) low.add(`${ratio.toFixed(2)} ${node.className || node.tagName}: ${text}`);
  }
  return [...low];
}
