// Drawings of a scene: the sum of the blocks, each block by number, the lifecycle, the timeline.
// Each says with words and signs what it says with colour.

function sumText(example, scene) {
  const held = heldIn(scene);
  const names = held.map(([id, n]) => (held.length > 1 ? `${nameOf(id)} ${n}` : nameOf(id)));
  const holders = names.length ? say("ledger.holders", { names: joinWords(names) }) : "";
  const blocks = held.reduce((sum, [, n]) => sum + n, 0);
  const sum = scene.free + blocks;
  const text = say("ledger.sum", { free: scene.free, held: blocks, holders, sum });
  const off = example.blocks - sum;
  if (!off) return [`✓ ${text}`, false];
  const wrong = off > 0 ? say("ledger.missing", { missing: off }) : say("ledger.too_many", { extra: -off });
  return [`✗ ${text}: ${wrong}`, true];
}

function segment(x, width, kind, label) {
  const box = draw("rect", { x: x + 1, y: 1, width: Math.max(1, width - 2), height: 30, rx: 4, class: kind });
  const text = draw("text", { x: x + width / 2, y: 21, "text-anchor": "middle" }, label);
  return draw("g", {}, box, width > 9 + 7 * label.length ? text : draw("title", {}, label));
}

function ledgerBar(example, scene) {
  const held = heldIn(scene).filter(([, n]) => n > 0);
  const known = Math.max(0, scene.free) + held.reduce((sum, [, n]) => sum + n, 0);
  const unit = 300 / Math.max(1, known, example.blocks);
  let x = 0;
  const parts = [];
  const add = (blocks, kind, label) => {
    if (blocks > 0) parts.push(segment(x, blocks * unit, kind, label));
    x += Math.max(0, blocks) * unit;
  };
  held.forEach(([id, n], place) => add(n, place % 2 ? "held other" : "held", `${nameOf(id)} · ${n}`));
  add(scene.free, "free", `${say("web.free")} ${scene.free}`);
  add(example.blocks - known, "missing", "?");
  if (known > example.blocks) {
    const edge = example.blocks * unit;
    parts.push(draw("line", { x1: edge, x2: edge, y1: 0, y2: 32, class: "edge" }));
  }
  const [text, wrong] = sumText(example, scene);
  const picture = draw("svg", { viewBox: "0 0 300 32", class: "ledger", "aria-hidden": "true" }, ...parts);
  return [picture, make("p", { class: wrong ? "sum bad" : "sum" }, text)];
}

// Each block with who holds it, a square for every place in it; filled is what was computed.
function blockTable(example, index) {
  const scene = example.scenes[index];
  const numbered = example.scenes.some((one) => [...one.requests.values()].some((fields) => fields.block_ids));
  if (!numbered) return [];
  const blocks = Array.from({ length: example.blocks }, (_, block) => oneBlock(example, index, block));
  const table = make("ul", { class: "blocks" }, ...blocks);
  if (!scene.flights.length) return [table];
  const steps = scene.flights.map((parts) =>
    `(${joinWords(parts.map(([id, first, last]) => `${nameOf(String(id))} ${first}–${last}`))})`);
  return [table, make("p", { class: "sum" }, `${say("blocks.in_flight")} ${steps.join(" ")}`)];
}

function oneBlock(example, index, block) {
  const size = example.block_size || 0;
  const [wrong, place] = example.slot || [];
  const near = example.breaks && (index === example.breaks || index === example.breaks - 1);
  const guilty = near && wrong === block;
  const holders = [...example.scenes[index].requests].filter(([, fields]) => (fields.block_ids || []).includes(block));
  const computed = Math.max(0, ...holders.map(([, fields]) =>
    (fields.computed_len || 0) - size * fields.block_ids.indexOf(block)));
  const squares = Array.from({ length: size }, (_, at) => make("i", {
    class: [at < computed ? "full" : "", guilty && at === place ? "wrong" : ""].join(" ").trim() || null,
  }));
  const names = holders.map(([id]) => nameOf(id)).join(" ") || say("blocks.free");
  const mark = guilty ? say("blocks.slot", { place }) : "";
  return make("li", { class: holders.length ? "held" : null },
    make("b", {}, String(block)), ` ${names}`, make("span", { class: "places", "aria-hidden": "true" }, ...squares),
    mark ? make("span", { class: "bad" }, mark) : null);
}

const NODES = {
  waiting: [88, 20], admitted: [88, 80], prefill: [88, 140],
  decode: [88, 200], finished: [88, 272], preempted: [243, 140],
};
const WAYS = {
  "waiting>admitted": ["M88 35V64", 96, 54, "start"],
  "admitted>prefill": ["M88 95V124", 96, 114, "start"],
  "prefill>decode": ["M88 155V184", 96, 174, "start"],
  "decode>finished": ["M88 215V256", 96, 240, "start"],
  "admitted>decode": ["M38 80C10 88 10 192 36 199"],
  "decode>decode": ["M48 214C44 238 6 234 36 206", 2, 244, "start"],
  "prefill>prefill": ["M48 154C44 178 6 174 36 146"],
  "admitted>preempted": ["M138 86C176 92 210 104 222 123"],
  "preempted>admitted": ["M256 125C250 92 200 70 141 76", 218, 74, "start"],
  "prefill>preempted": ["M138 140H184", 161, 134, "middle"],
  "decode>preempted": ["M138 196C178 192 212 178 226 157"],
};

function straight(from, to) {
  const [[x1, y1], [x2, y2]] = [NODES[from] || [10, 20], NODES[to]];
  const [dx, dy] = [x2 - x1, y2 - y1];
  const bend = `${(x1 + x2) / 2 - dy / 4} ${(y1 + y2) / 2 + dx / 4}`;
  return `M${x1} ${y1}Q${bend} ${x2} ${y2}`;
}

function arrowHead(id, kind) {
  const tip = draw("path", { d: "M0 0L7 3.5L0 7z", class: kind });
  return draw("marker", { id, viewBox: "0 0 7 7", refX: 6, refY: 3.5, markerWidth: 7, markerHeight: 7,
    markerUnits: "userSpaceOnUse", orient: "auto" }, tip);
}

function node(state, ids) {
  const [x, y] = NODES[state];
  const label = ids.length ? `${state} · ${ids.length}` : state;
  const width = state === "preempted" ? 112 : 100;
  const box = draw("rect", { x: x - width / 2, y: y - 15, width, height: 30, rx: 15 });
  const text = draw("text", { x, y: y + 4, "text-anchor": "middle" }, label);
  const title = draw("title", {}, ids.length ? `${state}: ${ids.map(nameOf).join(", ")}` : state);
  return draw("g", { class: ids.length ? "node some" : "node" }, title, box, text);
}

function edge(key, kind, label) {
  const [path, x, y, anchor] = WAYS[key] || [straight(...key.split(">"))];
  const head = { move: "head", "move taken": "head-taken", "move illegal": "head-illegal" }[kind];
  const line = draw("path", { d: path, class: kind, "marker-end": `url(#${head})` });
  const lines = x ? label.split(", ") : [];
  const text = lines.map((part, place) =>
    draw("text", { x, y: y + 12 * place, "text-anchor": anchor, class: "name" }, part));
  return draw("g", {}, line, ...text);
}

function lifecycle(scene) {
  const taken = new Map();
  for (const [states, legal] of Object.values(scene.ways)) {
    states.slice(1).forEach((to, place) => taken.set(`${states[place]}>${to}`, legal));
  }
  const known = data.moves.map(([from, to, label]) => [`${from}>${to}`, label]);
  const quiet = known.filter(([key]) => !taken.has(key)).map(([key, label]) => edge(key, "move", label));
  const labels = new Map(known);
  const loud = [...taken].filter(([key]) => !key.startsWith(">")).map(([key, legal]) =>
    edge(key, legal ? "move taken" : "move illegal", labels.get(key) || ""));
  const nodes = Object.keys(NODES).map((state) => {
    const here = [...scene.requests].filter(([, fields]) => fields.state === state);
    return node(state, here.map(([id]) => id));
  });
  const heads = draw("defs", {}, arrowHead("head", "tip"), arrowHead("head-taken", "tip taken"),
    arrowHead("head-illegal", "tip illegal"));
  return draw("svg", { viewBox: "0 0 300 292", class: "lifecycle", "aria-hidden": "true" },
    heads, ...quiet, ...loud, ...nodes);
}

function movesInWords(scene) {
  const moves = Object.entries(scene.ways).filter(([, [states]]) => states.length);
  if (!moves.length) return [make("p", { class: "faint" }, say("web.no_moves"))];
  return moves.map(([id, [states, legal]]) => {
    const way = states.filter(Boolean).join(" → ");
    const text = say(legal ? "web.move" : "web.move.illegal", { request: nameOf(id), way });
    return make("p", { class: legal ? null : "bad" }, text);
  });
}
