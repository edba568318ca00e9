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
  const post = (where, asked, options, signal) => {
    const call = { Method: "POST", Path: "/", Headers: [{ Name: "Content-Type", Value: "application/json" }], Body: JSON.stringify(asked) };
    for (const [name, value] of Object.entries((options && options.headers) || {})) {
      if (name.toLowerCase() === "authorization") call.Token = String(value);
      else if (name.toLowerCase() !== "content-type") call.Headers.push({ Name: name, Value: String(value) });
    }
    const credential = document.getElementById("credential");
    if (credential && credential.value && !call.Token) call.CredentialID = Number(credential.value);
    return fetch(where, { method: "POST", headers: { "Content-Type": "application/json", "X-CSRF-Token": at.dataset.proof }, body: JSON.stringify(call), signal });
  };
  const wrong = (said) => fail((said.errors || ["Something went wrong. Try again."]).join(" "));
  const query = async (asked, options) => {
    const answer = await post(at.dataset.try, asked, options);
    const said = await answer.json();
    if (!answer.ok) return wrong(said);
    try {
      return JSON.parse(said.Body);
    } catch {
      return fail(`The gateway answered ${said.Status}: ${said.Body.slice(0, 500)}`);
    }
  };
  // The results of a subscription come as server-sent events. An async generator could not
  // be stopped while it waits.
  const subscription = (asked, options) => {
    const stop = new AbortController();
    let reader, over = false, text = "";
    const open = async () => {
      const answer = await post(at.dataset.subscribe, asked, options, stop.signal);
      if (answer.ok) reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      else over = true;
      return answer.ok ? null : wrong(await answer.json());
    };
    const done = { value: undefined, done: true };
    const next = async () => {
      if (over) return done;
      const refused = reader ? null : await open();
      if (refused) return { value: refused, done: false };
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end < 0) {
          const more = await reader.read();
          if (more.done) return (over = true), done;
          text += more.value;
          continue;
        }
        const found = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end));
        text = text.slice(end + 2);
        if (!found) continue; // a pulse
        const said = JSON.parse(found[2]);
        if (found[1] === "next") return { value: said, done: false };
        over = true;
        stop.abort();
        return found[1] === "error" ? { value: { errors: [said].flat().map((e) => e || { message: "The gateway refuses the subscription." }) }, done: false } : done;
      }
    };
    return {
      [Symbol.asyncIterator]() { return this; },
      next: () => next().catch((err) => { if (over) return done; throw err; }),
      return: async () => { over = true; stop.abort(); return done; },
    };
  };
  const send = async (asked, options) => {
    if (!at.dataset.try) return fail("Log in, and choose an API that a gateway serves, to send queries.");
    let asks = []; // what the editor knows of the text may be older than the text
    try {
      asks = GraphiQL.GraphQL.parse(asked.query).definitions.filter((d) => d.kind === "OperationDefinition");
    } catch {
      // the gateway says what is wrong
    }
    const chosen = asks.find((d) => d.name && d.name.value === asked.operationName) || asks[0];
    return chosen && chosen.operation === "subscription" ? subscription(asked, options) : query(asked, options);
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
