import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Resource, call, has, homeOf, idOf, listOf, may, nameOf, operations, pathParams, resources, rowsOf } from './spec';
import { go, to } from './route';
import { Dialog } from './ui';

type Item = { text: string; hint: string; address: string };

/** All letters of what somebody types, in order; the closer together the better. */
function score(text: string, wanted: string): number {
  const t = text.toLowerCase(), w = wanted.toLowerCase(), i = t.indexOf(w);
  if (i >= 0) return 1000 - i - t.length / 100;
  let at = 0, gaps = 0;
  for (const c of w) { const n = t.indexOf(c, at); if (n < 0) return -1; gaps += n - at; at = n + 1; }
  return 500 - gaps;
}

/** Goes anywhere, makes anything, finds everything: without a mouse. */
export function Palette({ close }: { close: () => void }) {
  const [typed, type] = useState(''), [at, move] = useState(0), [found, setFound] = useState<Item[]>([]), list = useRef<HTMLUListElement>(null);
  const fixed = useMemo<Item[]>(() => {
    const out: Item[] = [{ text: 'Home', hint: 'go', address: '#/' }];
    for (const r of resources.values()) {
      if (listOf(r) && may(listOf(r))) out.push({ text: r.title, hint: 'go', address: to([r.name]) });
      if (r.operations.create && may(r.operations.create) && !pathParams(r.operations.create).length) out.push({ text: r.operations.create.summary, hint: 'make', address: to([r.name, '+new']) });
    }
    for (const o of operations.values()) if (may(o)) out.push({ text: o.summary, hint: `${o.method} ${o.path}`, address: to(['run', o.id]) });
    return out;
  }, []);
  useEffect(() => {
    move(0);
    if (typed.trim().length < 2) { setFound([]); return; }
    let gone = false;
    const searched = [...resources.values()].filter(r => { const l = listOf(r); return l && may(l) && has(l, 'q') && !pathParams(l).length; }).slice(0, 6);
    const t = setTimeout(() => searched.forEach((r: Resource) => call(listOf(r)!, { q: typed, p: '1', ...(has(listOf(r)!, 'compressed') ? { compressed: '1' } : {}) }).then(a => {
      if (!gone) setFound(f => [...f, ...rowsOf(a.data, listOf(r)).slice(0, 5).map(row => ({ text: nameOf(row, r.facts) || idOf(row, r.facts), hint: `${r.title} · ${idOf(row, r.facts)}`, address: to([homeOf(r, row), idOf(row, r.facts)]) }))]);
    }, () => { /* the search goes on without */ })), 200);
    setFound([]);
    return () => { gone = true; clearTimeout(t); };
  }, [typed]);
  const items = [...found, ...(typed ? fixed.map(i => ({ i, s: Math.max(score(i.text, typed), score(i.hint, typed) - 300) })).filter(x => x.s >= 0).sort((a, b) => b.s - a.s).map(x => x.i) : fixed)].slice(0, 40);
  const pick = (i: Item | undefined) => { if (i) { close(); go(i.address); } };
  useEffect(() => { list.current?.children[at]?.scrollIntoView({ block: 'nearest' }); }, [at]);
  const key = (e: KeyboardEvent) => {
    if (e.key === 'ArrowDown') { e.preventDefault(); move(Math.min(at + 1, items.length - 1)); }
    if (e.key === 'ArrowUp') { e.preventDefault(); move(Math.max(at - 1, 0)); }
    if (e.key === 'Enter') { e.preventDefault(); pick(items[at]); }
  };
  return <Dialog title="Go to, make, find" close={close}>
    <input class="palette" role="combobox" aria-expanded="true" aria-controls="palette" aria-activedescendant={items[at] ? 'p' + at : undefined} aria-label="What do you want?" placeholder="A page, an action, or the name of anything" value={typed} autoFocus onInput={(e: any) => type(e.target.value)} onKeyDown={key} />
    <ul id="palette" role="listbox" aria-label="Matches" ref={list} class="matches">{items.map((i, n) => <li key={i.address + n} id={'p' + n} role="option" aria-selected={n === at} onClick={() => pick(i)}><span>{i.text}</span> <span class="soft">{i.hint}</span></li>)}</ul>
    {items.length === 0 && <p class="soft">Nothing fits.</p>}
  </Dialog>;
}
