import { useLayoutEffect, useState } from 'preact/hooks';

export type Route = { path: string[]; query: URLSearchParams };

const read = (): Route => {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter(Boolean).map(p => { try { return decodeURIComponent(p); } catch { return p; } }), query: new URLSearchParams(query) };
};

/** The address of a place in the console. */
export const to = (path: string[], query: Record<string, string | undefined> = {}) => {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v) q.set(k, v);
  return '#/' + path.map(encodeURIComponent).join('/') + (q.size ? '?' + q : '');
};
export const go = (address: string) => { location.hash = address; };

/** Changes the query of the address without a step in the history. */
export const refine = (r: Route, query: Record<string, string | undefined>) => {
  const all: Record<string, string | undefined> = { ...Object.fromEntries(r.query), ...query };
  history.replaceState(null, '', to(r.path, all));
  at = location.hash;
  listeners.forEach(f => f());
};

const listeners = new Set<() => void>();
let at = location.hash, unsaved: (() => boolean) | undefined, ask: ((wanted: string) => void) | undefined;

/** Who holds unsaved work says so here; leaving asks first. */
export const guard = (f: (() => boolean) | undefined) => { unsaved = f; };
export const onLeaving = (f: (wanted: string) => void) => { ask = f; };
export const leave = (wanted: string) => { unsaved = undefined; go(wanted); };

addEventListener('hashchange', () => {
  if (location.hash === at) return;
  if (unsaved?.() && ask) {
    const wanted = location.hash;
    history.pushState(null, '', at || '#/');
    ask(wanted);
    return;
  }
  at = location.hash;
  listeners.forEach(f => f());
});
addEventListener('beforeunload', e => { if (unsaved?.()) e.preventDefault(); });

export function useRoute(): Route {
  const [r, set] = useState(read);
  // At once, not after the next picture: who goes on meanwhile would stay where they were.
  useLayoutEffect(() => { const on = () => set(read()); listeners.add(on); return () => { listeners.delete(on); }; }, []);
  return r;
}
