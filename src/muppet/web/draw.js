// A result → what is seen of it. Nothing here asks the server; text never becomes markup.

const COMMON = new Set(("a an and are as at by for from he her his in is it its of on or she that the " +
  "their they this to was were which who with").split(" "));

/** An element with a class, attributes and children; strings become text. */
export function make(name, { class: classes = "", ...attributes } = {}, ...children) {
  const element = document.createElement(name);
  if (classes) element.className = classes;
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

export const percent = (share) => {
  if (share > 0.995 && share < 1) return "> 99 %";
  return share > 0 && share < 0.005 ? "< 1 %" : `${Math.round(share * 100)} %`;
};

const bar = (share) =>
  make("progress", { class: "bar", max: "1", value: String(share), "aria-hidden": "true" });

/** All of a result; `choose` is called with the number of another answer, `explain` with a hop. */
export function drawResult(result, chosen, { choose, explain, copy, link }) {
  const answer = result.answers[chosen];
  if (!answer) return [verdict(result, null), foot(result, copy, link)];
  return [
    verdict(result, answer),
    drawPath(result, answer, explain),
    alternatives(result, chosen, choose),
    foot(result, copy, link),
  ].filter(Boolean);
}

function verdict(result, answer) {
  if (!answer) {
    return make("div", { class: "verdict unknown" }, make("p", { class: "notice" },
      make("b", {}, "Nothing in these documents has a word of the question."),
      "Ask with a name or a word that stands in them."));
  }
  const known = result.is_known;
  return make("div", { class: known ? "verdict" : "verdict unknown" },
    known ? null : make("p", { class: "notice" },
      make("b", {}, "Not in these documents, as far as I can tell."),
      "What follows is the best guess, and what it rests on."),
    known ? null : make("p", { class: "guess" }, "Best guess"),
    make("h1", { class: "answer" }, answer.text),
    make("p", { class: "sure" }, bar(answer.probability),
      make("span", {}, make("b", {}, percent(answer.probability)), " likely right")));
}

function drawPath(result, answer, explain) {
  const path = make("ol", { class: "path", "aria-label": "The chain of evidence" });
  const bridges = answer.chain.slice(1).map((hop, place) => bridge(answer.chain[place], hop));
  path.append(make("li", { class: "end" }, dot("?"),
    make("p", { class: "said asked", "data-text": "question" }, result.question)),
  make("li", {}, make("div", { class: "gap" })));
  answer.chain.forEach((hop, place) => {
    path.append(make("li", { class: "hop-item" },
      dot(String(place + 1)), drawHop(hop, answer, [bridges[place - 1], bridges[place]].filter(Boolean))));
    const next = answer.chain[place + 1];
    path.append(make("li", {}, next ? step(answer.chain, place, bridges[place], explain)
      : make("div", { class: "gap" })));
  });
  path.append(make("li", { class: "end" }, dot(result.is_known ? "✓" : "≈"),
    make("p", { class: "said" }, answer.text)));
  return path;
}

const dot = (sign) => make("span", { class: "dot", "aria-hidden": "true" }, sign);

function drawHop(hop, answer, bridges) {
  const rank = hop.rank_for_question;
  const place = rank ? `no. ${rank} for the question alone` : "not found by the question alone";
  const card = make("article", { class: "hop" });
  const title = make("h3", { "data-text": "title" });
  title.append(...pieces(hop.title, titleMarks(hop, answer, bridges)));
  const text = make("p", { class: "text", "data-text": "text" });
  text.append(...pieces(hop.text, textMarks(hop, answer, bridges)));
  card.dataset.paragraph = hop.paragraph;
  card.append(title,
    make("p", { class: "facts" },
      make("span", {}, `Relevance ${percent(Math.exp(Math.min(hop.score, 0)))}`),
      make("span", {}, place),
      hop.source ? make("span", { title: hop.source }, hop.source.split("/").pop()) : null),
    text);
  return card;
}

function step(chain, place, found, explain) {
  const why = make("button", { type: "button", class: "why", "aria-pressed": "false" },
    "what it looked at");
  const prefix = chain.slice(0, place + 1).map((hop) => hop.paragraph);
  explain(why, prefix);
  return make("div", { class: "step" },
    found ? make("span", { class: "via" }, `via ${found.words}`) : null,
    make("span", {}, "the question, asked again with this · ", why));
}

function alternatives(result, chosen, choose) {
  if (result.answers.length < 2) return null;
  const list = make("ul");
  result.answers.forEach((answer, place) => list.append(make("li", {},
    make("button", {
      type: "button", "aria-pressed": String(place === chosen), onclick: () => choose(place),
    }, make("span", {}, answer.text), bar(answer.probability),
    make("span", { class: "share" }, percent(answer.probability))))));
  return make("section", { class: "others" }, make("h2", {}, "All answers, likeliest first"), list);
}

function foot(result, copy, link) {
  const seconds = Object.entries(result.seconds).map(([name, time]) => `${name} ${time.toFixed(2)} s`);
  return make("div", { class: "foot" },
    make("button", { type: "button", class: "quiet", onclick: link }, "Copy link"),
    make("button", { type: "button", class: "quiet", onclick: copy }, "Copy as JSON"),
    make("span", { class: "time" }, seconds.join(" · ")));
}

// Marks: {start, end, class} over a text. Pieces: the text cut at their edges.

function titleMarks(hop, answer, bridges) {
  const marks = bridges.filter((one) => one.title === hop)
    .map((one) => ({ start: one.inTitle, end: one.inTitle + one.words.length, class: "bridge-word" }));
  const span = answer.span;
  if (span && span.in_title && span.paragraph === hop.paragraph) {
    marks.push({ start: units(hop.title, span.start), end: units(hop.title, span.end), class: "here" });
  }
  return marks;
}

function textMarks(hop, answer, bridges) {
  const marks = [];
  for (const one of answer.support.filter((one) => one.paragraph === hop.paragraph)) {
    const start = hop.text.indexOf(one.text);
    const lead = one.text.length - one.text.trimStart().length;
    if (start >= 0) marks.push({ start: start + lead, end: start + one.text.length, class: "support" });
  }
  const span = answer.span;
  if (span && !span.in_title && span.paragraph === hop.paragraph) {
    marks.push({ start: units(hop.text, span.start), end: units(hop.text, span.end), class: "here" });
  }
  for (const one of bridges.filter((one) => one.text === hop)) {
    marks.push({ start: one.inText, end: one.inText + one.words.length, class: "bridge-word" });
  }
  return marks;
}

/** The server counts characters; JavaScript counts UTF-16 units. */
const units = (text, characters) => [...text].slice(0, characters).join("").length;

function pieces(text, marks) {
  const edges = [...new Set([0, text.length, ...marks.flatMap((mark) => [mark.start, mark.end])])];
  edges.sort((a, b) => a - b);
  return edges.slice(1).map((end, place) => {
    const start = edges[place];
    const classes = marks.filter((mark) => mark.start <= start && end <= mark.end)
      .map((mark) => mark.class);
    const part = text.slice(start, end);
    if (!classes.length) return document.createTextNode(part);
    const name = classes.includes("support") || classes.includes("here") ? "mark" : "span";
    return make(name, { class: classes.join(" ") }, part);
  });
}

// The bridge: the longest run of words of one title that stands in the other paragraph's text.

function bridge(before, after) {
  const forward = shared(after.title, before.text);
  const back = shared(before.title, after.text);
  if (forward && (!back || forward.words.length >= back.words.length)) {
    return { ...forward, title: after, text: before };
  }
  return back ? { ...back, title: before, text: after } : null;
}

function shared(title, text) {
  const bare = title.replace(/\s*\([^)]*\)\s*$/, "");
  const words = [...bare.matchAll(/[\p{L}\p{N}\p{M}'’.-]+/gu)]
    .map((match) => ({ start: match.index, end: match.index + match[0].length, word: match[0] }));
  const haystack = text.toLowerCase();
  for (let length = words.length; length > 0; length -= 1) {
    for (let first = 0; first + length <= words.length; first += 1) {
      const some = words.slice(first, first + length);
      if (some.every(({ word }) => COMMON.has(word.toLowerCase()) || word.length < 3)) continue;
      const phrase = bare.slice(some[0].start, some.at(-1).end);
      const found = wholeWords(haystack, phrase.toLowerCase());
      if (found >= 0) return { words: text.slice(found, found + phrase.length), inText: found, inTitle: some[0].start };
    }
  }
  return null;
}

function wholeWords(text, phrase) {
  const inWord = /[\p{L}\p{N}]/u;
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    const end = at + phrase.length;
    if (!(at > 0 && inWord.test(text[at - 1])) && !(end < text.length && inWord.test(text[end]))) return at;
  }
  return -1;
}

// Attention: words in their order are found again in what is shown, and tinted by their share.

/** Tint the question and the paragraphs of a chain; what is returned takes it back. */
export function tint(root, attention) {
  const undo = [];
  const paint = (elements, words) => {
    const most = Math.max(...words.filter(({ word }) => /[\p{L}\p{N}]/u.test(word)).map(({ share }) => share), 1e-9);
    let rest = words;
    for (const element of elements.filter(Boolean)) {
      const before = [...element.childNodes];
      rest = paintElement(element, rest, most);
      undo.push(() => element.replaceChildren(...before));
    }
  };
  paint([root.querySelector('[data-text="question"]')], attention.question);
  for (const one of attention.chain) {
    const card = [...root.querySelectorAll(".hop")].find((card) => card.dataset.paragraph === one.paragraph);
    if (card) paint([card.querySelector('[data-text="title"]'), card.querySelector('[data-text="text"]')], one.words);
  }
  root.classList.add("heat");
  return () => { root.classList.remove("heat"); undo.forEach((back) => back()); };
}

/** The words that stand in this element, one after another; the words that are left. */
function paintElement(element, words, most) {
  const text = element.textContent;
  const parts = [];
  let at = 0;
  let next = 0;
  for (; next < words.length; next += 1) {
    const { word, share } = words[next];
    const found = text.indexOf(word, at);
    if (found < 0 || /\S/.test(text.slice(at, found))) {
      if (word === "." && at === text.length) continue; // the full stop that is put after a title
      break;
    }
    const level = /[\p{L}\p{N}]/u.test(word) ? Math.min(4, Math.floor((share / most) * 5)) : 0;
    parts.push(text.slice(at, found));
    parts.push(level ? make("span", { class: `h${level}`, title: percent(share) }, word) : word);
    at = found + word.length;
  }
  element.replaceChildren(...parts, text.slice(at));
  return words.slice(next);
}
