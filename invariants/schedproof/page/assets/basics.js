// What the other parts use: the data of the page, texts, elements, and the scenes unfolded.
// Texts go in as text nodes only, so nothing that a user wrote can become an element.

const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const PLACEHOLDER = /\{(\w+)(?::([^|{}]*)\|([^|{}]*))?\}/g;

function language() {
  return document.documentElement.dataset.lang === "zh" ? "zh" : "en";
}

function say(id, values = {}) {
  return data.words[language()][id].replace(PLACEHOLDER, (_, name, one, many) => {
    const value = values[name];
    return many === undefined ? value : `${value} ${Math.abs(value) === 1 ? one : many}`;
  });
}

function joinWords(parts) {
  return parts.reduce((row, part) => say("list.comma", { first: row, second: part }));
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") node.addEventListener("click", value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const make = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

function nameOf(id) {
  return /^-?\d+$/.test(id) ? `r${id}` : `'${id}'`;
}

// The scenes in full; requests that did not change are the same objects as before.
function unfold(records) {
  let now = new Map();
  return records.map((record) => {
    now = new Map(now);
    for (const id of record.gone || []) now.delete(id);
    for (const [id, fields] of Object.entries(record.changed || {})) {
      now.set(id, { ...now.get(id), ...fields });
    }
    for (const [id, names] of Object.entries(record.removed || {})) {
      const fields = { ...now.get(id) };
      names.forEach((name) => delete fields[name]);
      now.set(id, fields);
    }
    return {
      clock: record.clock,
      free: record.free,
      requests: now,
      served: new Set(record.served || []),
      preempted: new Set(record.preempted || []),
      ways: record.ways || {},
      flights: record.flights || [],
    };
  });
}

function heldIn(scene) {
  return [...scene.requests]
    .map(([id, fields]) => [id, fields.held_blocks])
    .filter(([, blocks]) => Number.isInteger(blocks) && blocks !== 0);
}
