"""Search in Chinese pages, without a dictionary of words.

Rules. Each Han character and each two that stand side by side are terms, and so is each word
in Latin letters. A query is taken apart in the same way, so whatever stands on a page in one
piece is found, names and new words included. Of a longer piece in a query only the pairs are
asked for: single characters would add nothing.
"""

from __future__ import annotations

import re

from sphinx.search.zh import SearchChinese

HAN = "\\u3400-\\u4dbf\\u4e00-\\u9fff"
PIECES = re.compile(f"([{HAN}]+)|([A-Za-z0-9_]+)")


class SearchByPairs(SearchChinese):
    """Replaces the search of Sphinx, which splits Chinese by an optional dictionary."""

    js_splitter_code = """
var splitQuery = function (query) {
  const terms = [];
  for (const piece of query.matchAll(/([HAN]+)|([A-Za-z0-9_]+)/g)) {
    const [han, word] = [piece[1], piece[2]];
    if (word) terms.push(word);
    else if (han.length === 1) terms.push(han);
    else for (let i = 0; i + 1 < han.length; i += 1) terms.push(han.slice(i, i + 2));
  }
  return terms;
};
""".replace("HAN", HAN)

    def split(self, input: str) -> list[str]:  # noqa: A002  (the name is that of Sphinx)
        """The terms of a text."""
        terms: list[str] = []
        for han, word in PIECES.findall(input):
            if word:
                self.latin_terms.add(word.lower())
            terms += [word] if word else [*han, *(han[i : i + 2] for i in range(len(han) - 1))]
        return terms

    def word_filter(self, word: str) -> bool:
        """Which terms are kept: of Han characters all, of words those that Sphinx keeps."""
        return bool(re.match(f"[{HAN}]", word)) or super().word_filter(word)
