// A form goes once: who clicks again while the answer is on its way does not make two apps.
// After fifteen seconds, with another entry, or when the page is shown again it can go again.
"use strict";
const free = (form) => { delete form.dataset.sent; };
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method")?.toLowerCase() !== "post") return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "1";
  setTimeout(() => free(form), 15000);
});
document.addEventListener("input", (event) => { if (event.target.form) free(event.target.form); });
addEventListener("pageshow", () => { document.querySelectorAll("form[data-sent]").forEach(free); });
