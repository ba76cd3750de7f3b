// Starts the page: makes the players, chooses what is seen, remembers language and colours.

const articles = [...document.querySelectorAll(".example")];
const choices = [...document.querySelectorAll(".choices a")];
const players = new Map();
let current = 0;

function choose(name, value) {
  document.documentElement.dataset[name] = value;
  try { localStorage.setItem(`schedproof-${name}`, value); } catch { /* a file may have no storage */ }
}

function see(place) {
  if (players.has(current)) players.get(current).stop();
  current = Math.min(articles.length - 1, Math.max(0, place));
  articles.forEach((article, other) => { article.hidden = other !== current; });
  choices.forEach((choice, other) => {
    if (other === current) choice.setAttribute("aria-current", "true");
    else choice.removeAttribute("aria-current");
  });
  const record = data.examples[current];
  if (record && record.scenes.length && !players.has(current)) {
    players.set(current, new Player(articles[current], record));
  }
  if (players.has(current)) players.get(current).speak();
}

function seeAnchor() {
  const place = articles.findIndex((article) => `#${article.id}` === location.hash);
  if (articles.length) see(Math.max(0, place));
}

function speakAgain() {
  document.documentElement.lang = language() === "zh" ? "zh-Hans" : "en";
  if (players.has(current)) players.get(current).speak();
}

const MOVES = {
  ArrowLeft: (player) => player.goTo(player.index - 1),
  k: (player) => player.goTo(player.index - 1),
  ArrowRight: (player) => player.goTo(player.index + 1),
  j: (player) => player.goTo(player.index + 1),
  Home: (player) => player.goTo(0),
  End: (player) => player.goTo(player.last),
  v: (player) => player.goTo(player.example.breaks || player.last),
  " ": (player) => player.play(),
};

document.addEventListener("keydown", (event) => {
  const on = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (on.matches("input[type=range]") && event.key !== "l" && event.key !== "v") return;
  if (event.key === "l") {
    document.getElementById(language() === "zh" ? "lang-en" : "lang-zh").click();
    return;
  }
  if (on.matches("input[type=radio]") && event.key.length > 1) return;
  if (event.key === " " && on.matches("button, summary, a, input")) return;
  if (!MOVES[event.key] || !players.has(current)) return;
  event.preventDefault();
  MOVES[event.key](players.get(current));
});

for (const name of ["lang", "theme"]) {
  const chosen = document.getElementById(`${name}-${document.documentElement.dataset[name]}`);
  if (chosen) chosen.checked = true;
  document.querySelectorAll(`input[name=${name}]`).forEach((choice) => {
    choice.addEventListener("change", () => {
      choose(name, choice.value);
      speakAgain();
    });
  });
}

addEventListener("hashchange", seeAnchor);
seeAnchor();
speakAgain();
