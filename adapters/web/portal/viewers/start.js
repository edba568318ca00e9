// Starts the viewers that do not start by themselves.
"use strict";
(() => {
  const at = document.getElementById("viewer");
  if (at.className === "redoc") {
    window.Redoc.init(at.dataset.spec, { hideDownloadButton: true, nonce: document.currentScript.nonce }, at);
    return;
  }
  const { React, ReactDOM, GraphiQL } = window;
  const fail = (message) => ({ errors: [{ message }] });
  // Calls go through the portal, which sends them to a gateway of the product.
  const send = async (asked, options) => {
    if (!at.dataset.try) return fail("Log in, and choose an API that a gateway serves, to send queries.");
    const call = { Method: "POST", Path: "/", Headers: [{ Name: "Content-Type", Value: "application/json" }], Body: JSON.stringify(asked) };
    for (const [name, value] of Object.entries((options && options.headers) || {})) {
      if (name.toLowerCase() === "authorization") call.Token = String(value);
      else if (name.toLowerCase() !== "content-type") call.Headers.push({ Name: name, Value: String(value) });
    }
    const credential = document.getElementById("credential");
    if (credential && credential.value && !call.Token) call.CredentialID = Number(credential.value);
    const answer = await fetch(at.dataset.try, { method: "POST", headers: { "Content-Type": "application/json", "X-CSRF-Token": at.dataset.proof }, body: JSON.stringify(call) });
    const said = await answer.json();
    if (!answer.ok) return fail((said.errors || ["Something went wrong. Try again."]).join(" "));
    try {
      return JSON.parse(said.Body);
    } catch {
      return fail(`The gateway answered ${said.Status}: ${said.Body.slice(0, 500)}`);
    }
  };
  const schema = () => {
    const text = document.getElementById("schema").content.textContent;
    const kept = text.trimStart().startsWith("{") ? JSON.parse(text) : text;
    const { buildSchema, buildClientSchema } = GraphiQL.GraphQL;
    return typeof kept === "string" ? buildSchema(kept, { assumeValidSDL: true }) : buildClientSchema(kept.data || kept);
  };
  let known;
  try {
    known = schema();
  } catch {
    known = null; // the explorer stays empty; queries can be written
  }
  ReactDOM.createRoot(at).render(React.createElement(GraphiQL, { fetcher: send, schema: known, shouldPersistHeaders: false, forcedTheme: "light" }));
})();
