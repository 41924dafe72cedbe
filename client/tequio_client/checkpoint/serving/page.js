"use strict";
// Sends what is written, and shows the pieces of the answer as they arrive. Everything that comes
// back is placed as text, never as HTML.
const at = (id) => document.getElementById(id);
const talk = at("talk"), text = at("text"), send = at("send"), stop = at("stop"), status = at("status");
const run = talk.dataset.run, answersTurns = talk.dataset.turns === "yes";
const HASH_CHARS = 10;
let turns = [];
let asking = null;

if (answersTurns) at("label").textContent = "Your message";

function add(title, content) {
  const part = document.createElement("section");
  const heading = document.createElement("h2");
  const body = document.createElement("p");
  heading.textContent = title;
  body.textContent = content;
  body.dir = "auto";
  part.append(heading, body);
  talk.append(part);
  part.scrollIntoView({ block: "nearest" });
  return body;
}

// Events end with an empty line, and may be cut anywhere on their way.
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const whole = (rest + value).split("\n\n");
    rest = whole.pop();
    for (const one of whole) if (one !== "data: [DONE]") yield JSON.parse(one.slice("data: ".length));
  }
}

async function showHead(head) {
  if (!head || head === at("head").title) return;
  const { data } = await (await fetch("v1/models")).json();
  if (data.length === 0) return;
  at("round").textContent = data[0].round.toLocaleString("en");
  at("head").textContent = data[0].head.slice(0, HASH_CHARS);
  at("head").title = data[0].head;
  at("proof").href = data[0].proof;
}

function refusal(response, body) {
  const again = response.headers.get("retry-after");
  return body.error.message + (again ? ` (again in ${again} s)` : "");
}

async function ask(prompt) {
  const asked = answersTurns ? { messages: [...turns, { role: "user", content: prompt }] } : { prompt };
  const response = await fetch(answersTurns ? "v1/chat/completions" : "v1/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: run, stream: true, ...asked }),
    signal: asking.signal,
  });
  if (!response.ok) throw new Error(refusal(response, await response.json()));
  status.textContent = "Writing…";
  const shown = add(answersTurns ? "The model answers" : "The model continues", "");
  let head = "", end = "";
  try {
    for await (const event of events(response)) {
      if (event.error) throw new Error(event.error.message);
      head = event.system_fingerprint;
      const choice = event.choices[0];
      shown.textContent += (answersTurns ? choice.delta.content : choice.text) ?? "";
      end = choice.finish_reason ?? end;
      shown.scrollIntoView({ block: "end" });
    }
  } finally {
    if (answersTurns) turns = [...asked.messages, { role: "assistant", content: shown.textContent }];
  }
  status.textContent = end === "length" ? "Finished, at the limit of its length." : "Finished.";
  await showHead(head);
}

at("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const prompt = text.value;
  if (asking || !prompt.trim()) return;
  asking = new AbortController();
  send.disabled = true;
  stop.disabled = false;
  talk.setAttribute("aria-busy", "true");
  status.textContent = "Waiting for the model…";
  add("You wrote", prompt);
  if (answersTurns) text.value = "";
  try {
    await ask(prompt);
  } catch (problem) {
    if (asking.signal.aborted) {
      status.textContent = "Stopped.";
    } else {
      const told = problem instanceof TypeError ? "The connection was lost: try again." : problem.message;
      add("Not answered", told).className = "problem";
      status.textContent = "Not answered.";
    }
  }
  asking = null;
  send.disabled = false;
  stop.disabled = true;
  talk.removeAttribute("aria-busy");
  text.focus();
});

stop.addEventListener("click", () => asking?.abort());
at("new").addEventListener("click", () => {
  asking?.abort();
  turns = [];
  talk.replaceChildren();
  text.value = "";
  status.textContent = "";
  text.focus();
});
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    at("ask").requestSubmit();
  }
});
