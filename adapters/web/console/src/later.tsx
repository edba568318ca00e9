import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem, listen, send } from './http';
import { Loading, Trouble } from './ui';

/** Parts of the console, by what loads them. A part that could not be loaded is asked for again by the next page that needs it. */
const loaded = new Map<() => Promise<any>, any>();
const load = (part: () => Promise<any>) => part().then(m => { loaded.set(part, m); });

/** Fetches parts that people will want soon, without a word about failures: who opens a page hears of them. */
export const prefetch = (...parts: (() => Promise<any>)[]) => parts.forEach(p => load(p).catch(() => { /* said when it matters */ }));

/** A page of a part that is loaded when it is first shown, and again when a server that was away is back. */
export function later<M, K extends keyof M>(part: () => Promise<M>, name: K): FunctionComponent<any> {
  return props => {
    const [round, again] = useState(0), [fault, setFault] = useState<Problem>(), [old, setOld] = useState(false), Page = loaded.get(part)?.[name];
    useEffect(() => {
      if (loaded.has(part)) { if (!Page) again(n => n + 1); return; } // it came after this page was drawn, before anybody listened
      let gone = false;
      setFault(undefined);
      load(part).then(() => { if (!gone) again(n => n + 1); }, () => send({ method: 'GET', path: '/hello' }).then(() => { if (!gone) setOld(true); }, e => { if (!gone) setFault(e); }));
      const stop = listen(e => { if (e === 'back') again(n => n + 1); });
      return () => { gone = true; stop(); };
    }, [round]);
    if (Page) return <Page {...props} />;
    if (old) return <div class="trouble" role="alert"><strong>The server has another version of the console by now.</strong><p>This page has not been loaded yet, and it would not fit. Load the console again.</p><button type="button" onClick={() => location.reload()}>Load the console again</button></div>;
    return fault ? <Trouble p={fault} retry={() => again(round + 1)} /> : <Loading what="the page" />;
  };
}
