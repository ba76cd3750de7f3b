// The player: one for each counterexample, of which one is seen. It moves the numbered steps
// into itself, shows a scene at a time, and answers buttons, keys, clicks and the timeline.

const PLAY_MILLISECONDS = 1100;

class Player {
  constructor(article, record) {
    this.article = article;
    this.example = { ...record, scenes: unfold(record.scenes) };
    this.last = this.example.scenes.length - 1;
    this.index = this.last;
    this.timer = null;
    this.build();
  }

  build() {
    const root = this.article.querySelector(".player");
    this.status = make("p", { class: "status", role: "status" });
    this.buttons = {};
    this.slider = make("input", { type: "range", min: 0, max: this.last, step: 1 });
    this.slider.addEventListener("input", () => this.goTo(Number(this.slider.value)));
    this.transport = make("div", { class: "transport", role: "group" }, ...this.makeButtons());
    this.table = make("div", { class: "wide", tabindex: "0" });
    this.line = timeline(this.example, (index) => this.goTo(index));
    this.heads = {};
    const part = (kind, ...nodes) => {
      this.heads[kind] = make("h3");
      return make("section", { class: `${kind}-part` }, this.heads[kind], ...nodes);
    };
    this.legend = make("p", { class: "legend" });
    this.ledger = make("div");
    this.cycle = make("div");
    this.keys = make("p", { class: "faint keys" });
    root.append(
      make("div", { class: "strip" }, this.status, this.transport, this.slider),
      make("div", { class: "side" }, part("ledger", this.ledger), part("lifecycle", this.cycle)),
      make("div", { class: "middle" }, part("lanes", this.line.node, this.legend), part("requests", this.table)),
      this.takeSteps(),
      this.keys,
    );
    root.hidden = false;
    this.root = root;
  }

  makeButtons() {
    const kinds = [
      ["first", () => this.goTo(0)],
      ["back", () => this.goTo(this.index - 1)],
      ["play", () => this.play()],
      ["forward", () => this.goTo(this.index + 1)],
      ["last", () => this.goTo(this.last)],
    ];
    if (this.example.breaks) kinds.push(["violation", () => this.goTo(this.example.breaks)]);
    return kinds.map(([name, onclick]) => {
      this.buttons[name] = make("button", { type: "button", onclick, class: name }, icon(name));
      return this.buttons[name];
    });
  }

  // The list of steps is the story's own; each line becomes a button.
  takeSteps() {
    const way = this.article.querySelector(".way");
    this.steps = [...way.querySelectorAll(".steps > li")].map((item, place) => {
      const button = make("button", { type: "button", onclick: () => this.goTo(place + 1) });
      button.append(...item.childNodes);
      item.append(button);
      return button;
    });
    return way;
  }

  goTo(index) {
    this.stop();
    this.show(index);
  }

  show(index) {
    this.index = Math.min(this.last, Math.max(0, index));
    const scene = this.example.scenes[this.index];
    this.slider.value = this.index;
    this.tellStatus();
    this.table.replaceChildren(requestTable(this.example, this.index));
    this.showGuilty();
    this.ledger.replaceChildren(...ledgerBar(this.example, scene), ...blockTable(this.example, this.index));
    this.cycle.replaceChildren(lifecycle(scene), make("div", { class: "moves" }, ...movesInWords(scene)));
    this.line.move(this.index);
    this.steps.forEach((button, place) => {
      if (place + 1 === this.index) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    this.showStep();
    this.buttons.first.disabled = this.buttons.back.disabled = this.index === 0;
    this.buttons.last.disabled = this.buttons.forward.disabled = this.index === this.last;
  }

  // Where the table is wider than its place, what is guilty is seen first.
  showGuilty() {
    const cell = this.table.querySelector(".guilty");
    if (!cell) return;
    const right = cell.offsetLeft + cell.offsetWidth + 8;
    if (right > this.table.clientWidth) this.table.scrollLeft = right - this.table.clientWidth;
  }

  // Scrolls the list of steps, and nothing else, to the line that is current.
  showStep() {
    const list = this.article.querySelector(".steps");
    const item = this.steps[this.index - 1]?.parentElement;
    if (!item) return void (list.scrollTop = 0);
    const [top, bottom] = [item.offsetTop, item.offsetTop + item.offsetHeight];
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  }

  tellStatus() {
    const { claim, breaks, loop } = this.example;
    const values = { claim, action: this.index, of: this.last };
    let [sign, text] = ["✓", "web.holds"];
    if (this.index === 0) [sign, text] = ["○", "web.start"];
    else if (loop !== null && this.index > loop) [sign, text] = ["↻", "web.loop"];
    else if (this.index === breaks) [sign, text] = ["✗", "web.broken"];
    else if (!breaks) [sign, text] = this.index === this.last ? ["✗", "web.broken_by_all"] : ["○", "web.whole_run"];
    const timed = this.example.scenes.some((scene) => scene.clock);
    const clock = timed ? say("web.clock", { clock: this.example.scenes[this.index].clock }) : "";
    this.status.replaceChildren(
      make("b", { "aria-hidden": "true" }, sign), " ", say(text, values),
      make("small", { class: "faint" }, clock));
    const kind = { "✓": "good", "✗": "bad", "↻": "bad", "○": "plain" }[sign];
    this.root.querySelector(".strip").className = `strip ${kind}`;
  }

  play() {
    if (this.timer) return this.stop();
    if (this.index === this.last) this.show(0);
    this.timer = setInterval(() => {
      this.show(this.index + 1);
      if (this.index === this.last) this.stop();
    }, PLAY_MILLISECONDS);
    this.speakPlay();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.speakPlay();
  }

  speakPlay() {
    const name = this.timer ? "pause" : "play";
    this.buttons.play.replaceChildren(icon(name));
    this.buttons.play.setAttribute("aria-label", say(`web.${name}`));
    this.buttons.play.setAttribute("title", say(`web.${name}`));
  }

  // Everything that was said in the other language is said again.
  speak() {
    for (const [name, button] of Object.entries(this.buttons)) {
      if (name === "play") continue;
      button.setAttribute("aria-label", say(`web.${name}`));
      button.setAttribute("title", say(`web.${name}`));
    }
    for (const [kind, head] of Object.entries(this.heads)) head.textContent = say(`web.${kind}`);
    this.transport.setAttribute("aria-label", say("web.transport"));
    this.slider.setAttribute("aria-label", say("web.transport"));
    this.table.setAttribute("aria-label", say("web.requests"));
    this.legend.replaceChildren(...legend());
    this.keys.textContent = say("web.keys");
    this.line.speak();
    this.speakPlay();
    this.show(this.index);
  }
}

const ICONS = {
  first: "M4 3v10M13 3L6 8l7 5z", back: "M11 3L4 8l7 5z", play: "M4 2.5l9 5.5-9 5.5z",
  pause: "M5 3v10M11 3v10", forward: "M5 3l7 5-7 5z", last: "M12 3v10M3 3l7 5-7 5z",
  violation: "M4 4l8 8M12 4l-8 8",
};

function icon(name) {
  return draw("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" },
    draw("path", { d: ICONS[name] }));
}
