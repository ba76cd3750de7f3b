// Before anything is drawn: the language and the colours that the reader chose last.

const root = document.documentElement;
root.classList.add("js");
root.dataset.lang = root.lang === "en" ? "en" : "zh";
root.dataset.theme = "auto";
for (const name of ["lang", "theme"]) {
  try {
    root.dataset[name] = localStorage.getItem(`schedproof-${name}`) || root.dataset[name];
  } catch { /* a file may have no storage */ }
}
