// Checks the typed text a moment after the last key. A request that newer typing has superseded is aborted, which the
// server notices. Without this script, the form checks sentence by sentence.
"use strict";

const PAUSE = 120; // milliseconds without a key
const TEXT_PAUSE = 500; // the same for a whole text
const KEPT = 100_000; // typed characters that a page remembers
const SENTENCE = 600; // characters; longer input is a text

// Lets the arrow keys walk the completions, while the focus stays in the box.
const completing = (box, result, take) => {
  let list = null;
  let closed = false; // until something is typed
  const options = () => [...list.children];
  const chosen = () => list?.querySelector("[aria-selected=true]") ?? null;

  const choose = (option) => {
    chosen()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) box.setAttribute("aria-activedescendant", option.id);
    else box.removeAttribute("aria-activedescendant");
  };
  const close = () => {
    if (!list) return;
    choose(null);
    list.parentElement.hidden = true;
    list = null;
    box.removeAttribute("aria-controls");
  };
  const takeOne = (option) => {
    closed = true;
    close();
    take(option.dataset.text);
  };

  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-haspopup", "listbox");
  box.addEventListener("input", () => {
    closed = false;
    if (list) choose(null);
  });
  box.addEventListener("keydown", (event) => {
    if (!list || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const all = options();
    const at = all.indexOf(chosen());
    const atEnd = box.selectionStart === box.value.length;
    if (event.key === "ArrowDown" && (at >= 0 || atEnd)) choose(all[(at + 1) % all.length]);
    else if (event.key === "ArrowUp" && at >= 0) choose(all[at - 1] ?? null); // from the first one back to the text
    else if (event.key === "Enter" && at >= 0) takeOne(all[at]);
    else if (event.key === "Escape") {
      closed = true;
      close();
    } else return;
    event.preventDefault();
  });

  // Makes a list box of the list in a new answer. Returns what to tell of it.
  return () => {
    const before = chosen()?.dataset.text;
    list = result.querySelector("[data-completions] ul");
    if (closed) close();
    choose(null);
    if (!list) return "";
    list.id = "completions";
    list.setAttribute("role", "listbox");
    box.setAttribute("aria-controls", list.id);
    for (const [at, option] of options().entries()) {
      option.id = `completion-${at}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the box
      option.addEventListener("click", () => takeOne(option));
      if (option.dataset.text === before) choose(option);
    }
    list.nextElementSibling.hidden = false; // the keys
    return ". The arrow keys choose one.";
  };
};

const form = document.querySelector("form[data-check]");
if (form) {
  const box = form.elements.text;
  const status = document.getElementById("status");
  const result = document.getElementById("result");
  let timer = 0;
  let asked = null; // what was asked last: only its answer is shown

  const show = (told, ...parts) => {
    result.replaceChildren(...parts);
    status.textContent = told + complete();
    result.removeAttribute("aria-busy");
  };
  const ask = async (path) => {
    clearTimeout(timer);
    history.replaceState({ text: box.value.slice(0, KEPT), path }, ""); // for the back button
    asked?.abort();
    const mine = (asked = new AbortController());
    if (!box.value.trim()) return show("");
    result.setAttribute("aria-busy", "true");
    try {
      const body = new URLSearchParams({ text: box.value });
      const answer = await fetch(path, { method: "POST", body, signal: mine.signal, headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (asked !== mine) return;
      const told = page.querySelector("main") ?? page.body;
      for (const one of told.querySelectorAll("h1, [data-again]")) one.remove(); // this page already has them
      const line = told.querySelector("[data-status]") ?? told.querySelector(".lead");
      show(line?.textContent.trim() ?? "", ...told.children);
    } catch {
      if (asked !== mine) return; // newer typing aborted it
      const line = "The server does not answer.";
      show(line, Object.assign(document.createElement("p"), { className: "note", textContent: line }));
    }
  };
  const complete = completing(box, result, (text) => {
    box.value = text;
    ask("/check");
  });

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
