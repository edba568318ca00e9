import { Node, Path, child, parse, put } from './doc';

export type Change = { path: Path; base?: string; mine?: string; theirs?: string };

const text = (t: string, n: Node | undefined) => n && t.slice(n.from, n.to);

/** Where three versions of a document differ. Lists are compared as a whole: their items have no names. */
export function threeWay(base: string, mine: string, theirs: string): Change[] {
  const out: Change[] = [];
  const walk = (path: Path, b: Node | undefined, m: Node | undefined, t: Node | undefined) => {
    const said = [text(base, b), text(mine, m), text(theirs, t)];
    if (said[0] === said[1] && said[0] === said[2]) return;
    if (m?.kind === 'object' && t?.kind === 'object') {
      const keys = new Set([...m.members!, ...t.members!, ...(b?.members ?? [])].map(x => x.key));
      for (const k of keys) walk([...path, k], child(b, k), child(m, k), child(t, k));
      return;
    }
    if (said[1] !== said[2]) out.push({ path, base: said[0], mine: said[1], theirs: said[2] });
  };
  walk([], parse(base), parse(mine), parse(theirs));
  return out;
}

/** Whose version of a change stands unless somebody chooses: the side that changed it, and theirs when both did. */
export const given = (c: Change): 'mine' | 'theirs' => c.base === c.theirs ? 'mine' : 'theirs';
export const contested = (c: Change) => c.base !== c.mine && c.base !== c.theirs;

/** Their document with our version of some changes. */
export const merged = (theirs: string, ours: Change[]) => ours.reduce((t, c) => put(t, c.path, c.mine), theirs);

export type Line = { kind: 'same' | 'old' | 'new' | 'gap'; old?: number; new?: number; text: string };

/** The lines in which two texts differ, with a few of the same around. */
export function lines(a: string, b: string, around = 3): Line[] {
  const x = a.split('\n'), y = b.split('\n');
  let head = 0, tail = 0;
  while (head < x.length && head < y.length && x[head] === y[head]) head++;
  while (tail < x.length - head && tail < y.length - head && x[x.length - 1 - tail] === y[y.length - 1 - tail]) tail++;
  const mid = middle(x.slice(head, x.length - tail), y.slice(head, y.length - tail));
  const same = (of: string[]): Line[] => of.map(text => ({ kind: 'same', text })), all = same(x.slice(0, head)).concat(mid, same(x.slice(x.length - tail)));
  let o = 0, n = 0;
  for (const l of all) { if (l.kind !== 'new') l.old = ++o; if (l.kind !== 'old') l.new = ++n; }
  const near = new Uint8Array(all.length);
  all.forEach((l, i) => { if (l.kind !== 'same') near.fill(1, Math.max(0, i - around), i + around + 1); });
  const out: Line[] = [];
  all.forEach((l, i) => { if (near[i]) out.push(l); else if (out.at(-1)?.kind !== 'gap') out.push({ kind: 'gap', text: '⋯' }); });
  return out;
}

function middle(x: string[], y: string[]): Line[] {
  const out: Line[] = [];
  if (x.length * y.length > 4_000_000) return [...x.map(text => ({ kind: 'old' as const, text })), ...y.map(text => ({ kind: 'new' as const, text }))];
  const w = y.length + 1, best = new Uint16Array((x.length + 1) * w);
  for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--)
    best[i * w + j] = x[i] === y[j] ? best[(i + 1) * w + j + 1] + 1 : Math.max(best[(i + 1) * w + j], best[i * w + j + 1]);
  let i = 0, j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) { out.push({ kind: 'same', text: x[i] }); i++; j++; }
    else if (j >= y.length || i < x.length && best[(i + 1) * w + j] >= best[i * w + j + 1]) out.push({ kind: 'old', text: x[i++] });
    else out.push({ kind: 'new', text: y[j++] });
  }
  return out;
}
