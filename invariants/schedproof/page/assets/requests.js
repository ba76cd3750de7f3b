// The table of requests: one row each, with what the last action changed and what is guilty.

const shown = (value) => (value === null || value === undefined ? "–" : String(value));

function cellText(column, fields) {
  const [first] = data.columns[column];
  switch (column) {
    case "status":
      return `${data.marks[fields.state || ""] || "?"} ${shown(fields.status)}`;
    case "generated":
      return `${shown(fields.generated_len)}/${shown(fields.max_new_tokens)}`;
    case "blocks": {
      const ids = (fields.block_ids || []).map((block) => ` #${block}`).join("");
      return `${shown(fields.held_blocks)}/${shown(fields.required_blocks)}${ids}`;
    }
    case "priority": {
      const effective = fields.effective_priority;
      const same = effective === undefined || effective === fields.priority;
      return same ? shown(fields.priority) : `${shown(fields.priority)} → ${effective}`;
    }
    case "deadline":
      return fields.slack === undefined ? shown(fields[first]) : `${fields[first]} (${fields.slack})`;
    default:
      return shown(fields[first]);
  }
}

function isChanged(column, before, after) {
  if (!before) return false;
  const loud = data.columns[column].filter((name) => !data.quiet.includes(name));
  return loud.some((name) => before[name] !== after[name]);
}

function progressBar(fields) {
  const part = fields.max_new_tokens > 0 ? fields.generated_len / fields.max_new_tokens : 0;
  const inner = make("span");
  inner.style.width = `${Math.round(100 * Math.min(1, Math.max(0, part)))}%`;
  return make("span", { class: "bar", "aria-hidden": "true" }, inner);
}

function requestCell(column, before, fields, guilty) {
  const text = cellText(column, fields);
  const wrong = data.columns[column].some((name) => guilty.includes(name));
  const fresh = isChanged(column, before, fields);
  const parts = fresh ? [make("del", {}, cellText(column, before))] : [];
  parts.push(wrong ? `✗ ${text}` : text);
  if (column === "generated") parts.push(progressBar(fields));
  return make("td", { class: wrong ? "guilty" : fresh ? "changed" : null }, ...parts);
}

function wordsAbout(fields, guilty) {
  const told = [say("arg.prompt_len", { value: shown(fields.prompt_len) })];
  if (fields.cache_hit) told.push(say("arg.cache_hit"));
  if (fields.preemptible === false) told.push(say("arg.preemptible"));
  const known = new Set(["prompt_len", "cache_hit", "preemptible", ...Object.values(data.columns).flat()]);
  for (const name of guilty) {
    if (!known.has(name) && name in fields) told.push(`✗ ${name} = ${shown(fields[name])}`);
  }
  return joinWords(told);
}

function requestRow(example, index, id, fields) {
  const scene = example.scenes[index];
  const before = index ? example.scenes[index - 1].requests.get(id) : undefined;
  const guilty = index === example.breaks ? example.guilty[id] || [] : [];
  const served = scene.served.has(id);
  const dot = served ? make("i", { class: "dot" }, "●") : null;
  const more = make("span", { class: "more" }, wordsAbout(fields, guilty));
  const name = make("th", { scope: "row" }, nameOf(id), dot, more);
  const cells = example.columns.map((column) => requestCell(column, before, fields, guilty));
  const kind = [served ? "served" : "", fields.state === "finished" ? "over" : ""].join(" ").trim();
  return make("tr", { class: kind || null }, name, ...cells);
}

function requestTable(example, index) {
  const scene = example.scenes[index];
  if (!scene.requests.size) return make("p", { class: "faint" }, say("web.nobody_yet"));
  const heads = ["request", ...example.columns].map((column) =>
    make("th", { scope: "col" }, say(`web.column.${column}`)),
  );
  const rows = [...scene.requests].map(([id, fields]) => requestRow(example, index, id, fields));
  const table = make("table", { class: "requests" });
  table.append(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
  return table;
}
