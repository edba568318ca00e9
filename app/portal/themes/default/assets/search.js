// Search as you type: the form works without this file.
"use strict";
for (const form of document.querySelectorAll("form[data-results]")) {
  let timer, asked;
  const look = async () => {
    asked?.abort();
    asked = new AbortController();
    const at = new URL(location.pathname, location.origin);
    for (const [name, value] of new FormData(form)) if (value) at.searchParams.set(name, value);
    try {
      const answer = await fetch(at, { signal: asked.signal, headers: { Accept: "text/html" } });
      if (!answer.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const now = page.getElementById(form.dataset.results);
      const was = document.getElementById(form.dataset.results);
      if (!now || !was) return;
      was.replaceChildren(...now.childNodes);
      history.replaceState(null, "", at);
    } catch {
      // The next letter asks again, and the button always works.
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 200);
  });
}
