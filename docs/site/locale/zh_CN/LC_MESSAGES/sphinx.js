Documentation.addTranslations({
  "locale": "zh_CN",
  "messages": {
    "Hide Search Matches": "\u9690\u85cf\u641c\u7d22\u7ed3\u679c",
    "Preparing search...": "\u6b63\u5728\u51c6\u5907\u641c\u7d22\u2026\u2026",
    "Search": "\u641c\u7d22",
    "Search Results": "\u641c\u7d22\u7ed3\u679c",
    "Searching": "\u6b63\u5728\u641c\u7d22",
    "Search finished, found one page matching the search query.": ["\u641c\u7d22\u5b8c\u6210\uff0c\u627e\u5230 ${resultCount} \u9875\u3002"],
    "Your search did not match any documents. Please make sure that all words are spelled correctly and that you've selected enough categories.": "\u6ca1\u6709\u627e\u5230\u3002\u53ef\u4ee5\u6362\u4e00\u4e2a\u66f4\u77ed\u7684\u8bcd\u518d\u8bd5\u3002"
  },
  "plural_expr": "0"
});
