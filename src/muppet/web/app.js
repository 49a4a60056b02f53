// The page: asks the server, shows how far it has got, and then what it found.

import { drawResult, make, tint } from "./draw.js";

const $ = (id) => document.getElementById(id);
const form = $("form"), question = $("question"), kbs = $("kb"), stages = $("stages");
const place = $("result"), said = $("said"), door = $("door");

let asking = null; // the AbortController of the question under way
let shown = null; // {result, kb} that is on the page
let known = []; // the knowledge bases of this server

/** The server's JSON; an error is thrown with the server's own words. */
async function call(path, body, signal) {
  const headers = body ? { "content-type": "application/json" } : {};
  const token = sessionStorage.getItem("token");
  if (token) headers.authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path, {
      method: body ? "POST" : "GET", headers, signal, body: body && JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Is it still running?");
  }
  if (response.ok) return response;
  const words = await response.json().then((said) => said.error, () => response.statusText);
  throw Object.assign(new Error(words), { status: response.status });
}

/** The events of a stream, one after another: {name, data}. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (name && data) yield { name, data: JSON.parse(data) };
    }
  }
}

async function ask(text, kb) {
  asking?.abort();
  const own = asking = new AbortController();
  shown = null;
  place.replaceChildren();
  $("examples").hidden = true;
  document.body.className = "busy";
  document.title = `${text} – Muppet`;
  const told = [];
  showStages(told);
  try {
    const response = await call("/api/ask/stream", kb ? { question: text, kb } : { question: text }, own.signal);
    let result = null;
    for await (const { name, data } of events(response)) {
      if (name === "error") throw new Error(data.error);
      if (name === "answer") result = data;
      else { told.push({ name, data }); showStages(told); }
    }
    if (!result) throw new Error("The server stopped before it had an answer. Ask again.");
    show(result, kb);
  } catch (error) {
    if (own.signal.aborted) return;
    fail(error, () => ask(text, kb));
  } finally {
    if (asking === own) {
      asking = null;
      stages.hidden = true;
      document.body.className = "answered";
    }
  }
}

function showStages(told) {
  const hops = told.filter(({ name }) => name === "hop");
  const reading = told.some(({ name }) => name === "reading");
  const steps = hops.map(({ data }, hop) => ({
    what: `Hop ${hop + 1}`, found: data.chain.at(-1)?.title, class: "done",
  }));
  if (!reading) steps.push({ what: hops.length ? `Asking again, with hop ${hops.length}` : "Looking for the first paragraph", class: "now" });
  steps.push({ what: "Reading", class: reading ? "now" : "" });
  stages.hidden = false;
  stages.replaceChildren(...steps.map((step) => make("li", { class: step.class },
    make("span", {}, make("b", {}, step.what), step.found ? " found " : "",
      step.found ? make("span", { class: "found" }, step.found) : null))));
  const last = hops.at(-1);
  said.textContent = reading ? "Reading." : last ? `Hop ${hops.length}: ${last.data.chain.at(-1)?.title}.` : "Asking.";
}

function show(result, kb, chosen = 0) {
  shown = { result, kb };
  place.replaceChildren(...drawResult(result, chosen, {
    choose: (other) => { show(result, kb, other); focusChosen(); },
    explain: (button, chain) => explain(button, result.question, kb, chain),
    copy: (event) => copy(event.target, JSON.stringify(result, null, 2)),
    link: (event) => copy(event.target, new URL(address(result.question, kb), location).href),
  }));
  const best = result.answers[chosen];
  said.textContent = !best ? "Nothing found."
    : result.is_known ? `Answer: ${best.text}.` : `Not in these documents. Best guess: ${best.text}.`;
}

const focusChosen = () => place.querySelector('.others [aria-pressed="true"]')?.focus();

function fail(error, again) {
  said.textContent = "";
  if (error.status === 401) {
    door.hidden = false;
    $("token").focus();
    door.onsubmit = (event) => {
      event.preventDefault();
      sessionStorage.setItem("token", $("token").value.trim());
      door.hidden = true;
      begin(again);
    };
    if (!sessionStorage.getItem("token")) return;
  }
  const retry = error.status && error.status < 500 ? null
    : make("button", { type: "button", class: "quiet", onclick: again }, "Try again");
  place.replaceChildren(make("div", { class: "trouble", role: "alert" }, error.message, retry));
}

/** Hovering or focusing shows what the reformulation looked at; pressing keeps it shown. */
function explain(button, text, kb, chain) {
  let attention = null, back = null, wanted = false;
  const on = async () => {
    wanted = true;
    try {
      attention ??= call("/api/attention", kb ? { question: text, kb, chain } : { question: text, chain })
        .then((response) => response.json());
      const found = await attention;
      if (wanted && !back) back = tint(place, found);
    } catch (error) {
      attention = null;
      said.textContent = error.message;
    }
  };
  const off = () => {
    wanted = false;
    if (button.getAttribute("aria-pressed") === "true") return;
    back?.();
    back = null;
  };
  button.addEventListener("pointerenter", on);
  button.addEventListener("pointerleave", off);
  button.addEventListener("focus", on);
  button.addEventListener("blur", off);
  button.addEventListener("click", () => {
    const pressed = button.getAttribute("aria-pressed") === "true";
    button.setAttribute("aria-pressed", String(!pressed));
    if (pressed) off(); else on();
  });
}

async function copy(button, text) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not allowed where the page is not served securely
    const area = make("textarea", { class: "unseen" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "Copied";
  said.textContent = "Copied.";
  setTimeout(() => { button.textContent = before; }, 1500);
}

const address = (text, kb) => `/?${new URLSearchParams(kb ? { q: text, kb } : { q: text })}`;

function submit() {
  const text = question.value.trim();
  if (!text) { question.focus(); return; }
  const kb = known.length > 1 ? kbs.value : "";
  if (location.pathname + location.search !== address(text, kb)) history.pushState(null, "", address(text, kb));
  ask(text, kb);
}

/** What the address says: a permalink asks its question, the bare one shows the examples. */
function follow() {
  asking?.abort();
  asking = shown = null;
  const wanted = new URLSearchParams(location.search);
  const kb = wanted.get("kb") ?? "";
  if (kb && known.some(({ name }) => name === kb)) kbs.value = kb;
  question.value = wanted.get("q") ?? "";
  grow();
  describe();
  if (question.value.trim()) { ask(question.value.trim(), kb); return; }
  document.body.className = "";
  document.title = "Muppet";
  stages.hidden = true;
  place.replaceChildren();
  question.focus();
}

/** The knowledge base that is chosen: what it holds, and what may be asked. */
function describe() {
  const one = known.find(({ name }) => name === kbs.value) ?? known[0];
  if (!one) return;
  const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
  $("holds").textContent = `${one.name} · ${count(one.paragraphs, "paragraph")}`;
  $("holds").title = `from ${count(one.documents, "document")}`;
  $("examples").hidden = !one.examples.length || Boolean(asking || shown);
  $("example-list").replaceChildren(...one.examples.map((text) => make("li", {},
    make("button", { type: "button", onclick: () => { question.value = text; grow(); submit(); } }, text))));
}

function grow() {
  question.style.height = "auto";
  question.style.height = `${question.scrollHeight}px`;
}

async function begin(then) {
  try {
    const response = await call("/api/knowledge");
    known = (await response.json()).knowledge_bases;
    kbs.replaceChildren(...known.map(({ name }) => make("option", {}, name)));
    $("picker").hidden = known.length < 2;
    describe();
    then();
  } catch (error) {
    fail(error, () => begin(then));
  }
}

form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
question.addEventListener("input", grow);
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); submit(); }
});
kbs.addEventListener("change", describe);
window.addEventListener("popstate", follow);
document.addEventListener("keydown", (event) => {
  const writes = event.target.closest("input, textarea, select");
  if (event.key === "/" && !writes && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    question.focus();
    question.select();
  }
  if (event.key === "Escape" && asking) {
    asking.abort();
    asking = null;
    stages.hidden = true;
    document.body.className = "";
    said.textContent = "Stopped.";
    question.focus();
    describe();
  }
});

begin(follow);
