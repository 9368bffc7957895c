// Keeps the page current, and searches without reloading it. The server writes all HTML; this script only swaps parts.
"use strict";
{
  const EVERY = 5000; // milliseconds between updates
  const live = document.getElementById("live");
  const pause = document.getElementById("pause");
  const form = document.getElementById("search-form");
  const trail = document.getElementById("trail");
  const told = document.getElementById("told");
  let paused = false;
  let searching = null;

  async function load(options) {
    const answer = await fetch("/", { credentials: "same-origin", ...options });
    if (answer.redirected) location.assign(answer.url); // the login has ended
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }

  // Replace the parts that have changed; what is open stays open, and the focus stays where it is.
  function swap(page) {
    for (const old of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(old.id);
      if (!fresh) continue;
      for (const box of old.querySelectorAll("details")) {
        const same = fresh.querySelector(`#${box.id}`);
        if (same) same.open = box.open;
      }
      if (fresh.isEqualNode(old)) continue;
      const focused = old.contains(document.activeElement) && document.activeElement.parentElement.id;
      old.replaceWith(document.adoptNode(fresh));
      if (focused) document.querySelector(`#${focused} > summary`)?.focus();
    }
  }

  async function refresh() {
    if (paused || document.hidden || searching) return;
    try {
      swap(await load());
      live.textContent = `Updated ${new Date().toLocaleTimeString()}`;
    } catch {
      live.textContent = "The server does not respond; retrying.";
    }
  }

  pause.addEventListener("click", () => {
    paused = !paused;
    pause.textContent = paused ? "Resume updates" : "Pause updates";
    refresh();
  });

  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    searching?.abort();
    const mine = (searching = new AbortController());
    say(["Searching…"]);
    try {
      const body = new URLSearchParams(new FormData(form));
      const page = await load({ method: "POST", body, signal: mine.signal });
      const fresh = page.getElementById("told");
      say(fresh?.childNodes ?? ["The server sent no result."], !fresh || fresh.className === "failure");
      trail.replaceChildren(...(page.getElementById("trail")?.childNodes ?? []));
      swap(page);
    } catch (error) {
      if (error.name !== "AbortError") say(["The server does not respond. Try again."], true);
    } finally {
      if (searching === mine) searching = null;
    }
  });

  function say(parts, isFailure = false) {
    told.replaceChildren(...parts);
    told.className = isFailure ? "failure" : "";
    trail.replaceChildren();
  }

  live.hidden = pause.hidden = false;
  live.textContent = "Live";
  setInterval(refresh, EVERY);
}
