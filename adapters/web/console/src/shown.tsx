import { useRef } from 'preact/hooks';
import { Value, label } from './ui';

/** A value as people read it: members in order, nested ones below. */
export function Shown({ v, depth = 0 }: { v: any; depth?: number }) {
  if (v === null || typeof v !== 'object') return <Value v={v} long />;
  const entries: [string, any][] = Array.isArray(v) ? v.map((x, i) => [String(i + 1), x]) : Object.entries(v);
  if (!entries.length) return <span class="soft">none</span>;
  if (Array.isArray(v) && v.every(x => typeof x !== 'object')) return <Value v={v} long />;
  return <dl class="shown">{entries.slice(0, 60).map(([k, x]) => { const nested = x && typeof x === 'object' && Object.keys(x).length > 0 && !(Array.isArray(x) && x.every(y => typeof y !== 'object'));
    return <div key={k} class={nested ? 'nested' : ''}><dt>{Array.isArray(v) ? k : label(k)}</dt><dd>{nested && depth > 0 ? <details><summary><Value v={x} /></summary><Shown v={x} depth={depth + 1} /></details> : nested ? <Shown v={x} depth={depth + 1} /> : <Value v={x} long />}</dd></div>; })}
    {entries.length > 60 && <p class="soft">{entries.length - 60} more in the document.</p>}</dl>;
}

export function Pages({ page, total, go }: { page: number; total: number; go: (n: number) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return <nav class="pages" aria-label="Pages"><button type="button" disabled={page <= 1} onClick={() => go(page - 1)}>Previous</button>
    <form onSubmit={e => { e.preventDefault(); const n = Number(input.current!.value); if (n >= 1 && n <= total) go(n); }}><label>Page <input ref={input} type="number" min={1} max={total} key={page} defaultValue={String(page)} /></label> of {total}</form>
    <button type="button" disabled={page >= total} onClick={() => go(page + 1)}>Next</button></nav>;
}
