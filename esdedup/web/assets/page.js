// Checks the typed text a moment after the last key. A request that newer typing has superseded is aborted, which the
// server notices. Without this script, the form checks sentence by sentence.
"use strict";

const PAUSE = 120; // milliseconds without a key
const TEXT_PAUSE = 500; // the same for a whole text
const KEPT = 100_000; // typed characters that a page remembers
const SENTENCE = 600; // characters; longer input is a text

const form = document.querySelector("form[data-check]");
if (form) {
  const box = form.elements.text;
  const status = document.getElementById("status");
  const result = document.getElementById("result");
  let timer = 0;
  let asked = null;

  const ask = async (path) => {
    clearTimeout(timer);
    history.replaceState({ text: box.value.slice(0, KEPT), path }, ""); // for the back button
    asked?.abort();
    const mine = (asked = new AbortController());
    if (!box.value.trim()) {
      result.replaceChildren();
      status.textContent = "";
      return;
    }
    result.setAttribute("aria-busy", "true");
    try {
      const body = new URLSearchParams({ text: box.value });
      const answer = await fetch(path, { method: "POST", body, signal: mine.signal, headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const told = page.querySelector("main") ?? page.body;
      for (const one of told.querySelectorAll("h1, [data-again]")) one.remove(); // this page already has them
      status.textContent = (told.querySelector("[data-status]") ?? told.querySelector(".lead"))?.textContent.trim() ?? "";
      result.replaceChildren(...told.children);
    } catch (error) {
      if (error.name === "AbortError") return;
      status.textContent = "The server does not answer.";
      result.replaceChildren(Object.assign(document.createElement("p"), { className: "note", textContent: status.textContent }));
    }
    if (asked === mine) result.removeAttribute("aria-busy");
  };

  // two ends of sentences; the first follows a longer word (not an abbreviation) and precedes no small letter
  const isText = () => box.value.length > SENTENCE || /([\p{L}\p{N})"”»]{4,}[.!?…؟।]\s+|。\s*)\P{Ll}[^]*[.!?…。؟।]|\n\s*\S/u.test(box.value.trim());
  box.addEventListener("input", (event) => {
    clearTimeout(timer);
    const text = isText();
    timer = setTimeout(() => ask(text ? "/text" : "/check"), text && event.inputType !== "insertFromPaste" ? TEXT_PAUSE : PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(event.submitter?.getAttribute("formaction") ?? "/text");
  });
  box.value ||= history.state?.text ?? "";
  if (box.value) ask(history.state?.path ?? "/check");
}

// "/" goes to the first field.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select")) return;
  const field = document.querySelector("main textarea, main input[type=search]") ?? document.querySelector("main input");
  if (field) {
    event.preventDefault();
    field.focus();
  }
});
