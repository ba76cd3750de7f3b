// The timeline: a lane for each request, a column for each action, the free blocks above.
// It is drawn once; going through the trace moves a frame over it.

const TOP = 46;

function laneSign(example, index, id) {
  const scene = example.scenes[index];
  const before = example.scenes[index - 1].requests.get(id);
  const fields = scene.requests.get(id);
  if (!before) return "▲";
  if (fields.state === "finished" && before.state !== "finished") return "■";
  if (scene.preempted.has(id)) return "◆";
  if (!scene.served.has(id)) return "";
  return before.phase === "prefill" ? "P" : shown(fields.generated_len);
}

function laneCell(example, index, id, [x, y, width, height]) {
  const fields = example.scenes[index].requests.get(id);
  if (!fields) return [];
  const served = example.scenes[index].served.has(id);
  const holds = fields.held_blocks > 0;
  const guilty = index === example.breaks && example.guilty[id];
  const kind = served ? "cell served" : holds ? "cell holds" : fields.state === "finished" ? "" : "idle";
  const box = { x: x + 1, y: y + 3, width: width - 2, height: height - 6, rx: 3 };
  const parts = [];
  if (kind.startsWith("cell")) parts.push(draw("rect", { ...box, class: kind }));
  else if (kind) parts.push(draw("line", { x1: x, x2: x + width, y1: y + height / 2, y2: y + height / 2, class: kind }));
  if (guilty) parts.push(draw("rect", { ...box, class: "wrong" }));
  const sign = laneSign(example, index, id);
  if (sign) {
    const at = { x: x + width / 2, y: y + height / 2 + 4, "text-anchor": "middle" };
    parts.push(draw("text", { ...at, class: served ? "sign on" : "sign" }, sign));
  }
  return parts;
}

function freeStrip(example, width) {
  return example.scenes.slice(1).map((scene, place) => {
    const part = Math.min(1, Math.max(0, scene.free / Math.max(1, example.blocks)));
    const height = Math.round(22 * part);
    return draw("rect", { x: place * width + 1, y: 22 - height, width: width - 2, height: height + 1, class: "freely" });
  });
}

function columnHeads(example, width) {
  const every = width >= 24 ? 1 : 5;
  const heads = [];
  for (let action = 1; action < example.scenes.length; action += 1) {
    const broken = action === example.breaks;
    const again = example.loop !== null && action > example.loop;
    if (action % every && !broken) continue;
    const at = { x: (action - 0.5) * width, y: 40, "text-anchor": "middle", class: broken || again ? "bad" : null };
    const sign = broken ? "✗" : again ? "↻" : "";
    heads.push(draw("text", at, sign && width < 24 ? sign : `${sign} ${action}`.trim()));
  }
  return heads;
}

function timeline(example, goTo) {
  const actions = example.scenes.length - 1;
  const width = actions <= 12 ? 44 : actions <= 24 ? 30 : 18;
  const ids = [...new Set(example.scenes.flatMap((scene) => [...scene.requests.keys()]))];
  const height = ids.length > 8 ? 22 : 30;
  const [w, h] = [Math.max(1, actions) * width + 2, TOP + ids.length * height + 4];
  const cells = ids.flatMap((id, lane) =>
    example.scenes.slice(1).flatMap((_, place) =>
      laneCell(example, place + 1, id, [place * width, TOP + lane * height, width, height])));
  // An element over the picture: moving a part of the picture would lay all of it out again.
  const cursor = make("div", { class: "cursor" });
  cursor.style.width = `${width}px`;
  const picture = draw("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, class: "lanes" },
    ...freeStrip(example, width), ...columnHeads(example, width), ...cells);
  const names = draw("svg", { width: 58, height: h, viewBox: `0 0 58 ${h}`, class: "lanes names" });
  const film = make("div", { class: "film" }, picture, cursor);
  const box = make("div", { class: "scroll", tabindex: "-1" }, film);
  const at = (event) => {
    const x = event.clientX - picture.getBoundingClientRect().left;
    goTo(Math.min(actions, Math.max(1, Math.floor(x / width) + 1)));
  };
  picture.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") picture.setPointerCapture(event.pointerId);
    at(event);
  });
  picture.addEventListener("pointermove", (event) => {
    if (event.buttons === 1 && event.pointerType !== "touch") at(event);
  });
  return {
    node: make("div", { class: "timeline", "aria-hidden": "true" }, names, box),
    move(index) {
      cursor.style.transform = `translateX(${(index - 1) * width}px)`;
      cursor.hidden = index === 0;
      const [left, right] = [(index - 2) * width, (index + 1) * width];
      if (left < box.scrollLeft) box.scrollLeft = left;
      else if (right > box.scrollLeft + box.clientWidth) box.scrollLeft = right - box.clientWidth;
    },
    speak() {
      const label = (text, y) => draw("text", { x: 0, y }, text);
      names.replaceChildren(label(say("web.free"), 18),
        ...ids.map((id, lane) => label(nameOf(id), TOP + lane * height + height / 2 + 4)));
    },
  };
}

function legend() {
  const signs = [["▲", "enqueue"], ["◆", "preempted"], ["■", "finished"]];
  const boxes = [["served", "served"], ["holds", "holds"]];
  const items = [
    ...boxes.map(([kind, word]) => [make("i", { class: `swatch ${kind}` }), word]),
    ...signs.map(([sign, word]) => [make("b", {}, sign), word]),
  ];
  return items.map(([mark, word]) => make("span", {}, mark, " ", say(`web.legend.${word}`)));
}
