import { useState } from 'preact/hooks';
import { Path, find, parse, pretty, put, valueOf } from './doc';
import { Problem } from './http';
import { call, operations, rowsOf } from './spec';
import { Loading, Time, Trouble, useAnswer } from './ui';

/** The path that a JSON pointer stands for: whether a number is a place in a list, the document says. */
function pathOf(text: string, pointer: string): Path {
  const out: Path = [];
  for (const p of pointer.split('/').slice(1).map(p => p.replace(/~1/g, '/').replace(/~0/g, '~'))) out.push(find(parse(text), out)?.items ? Number(p) : p);
  return out;
}
const short = (v: unknown) => { const t = v === undefined ? '—' : JSON.stringify(v); return t.length > 120 ? t.slice(0, 120) + '…' : t; };

/** A record as it was, with the secrets of today: those of old are hidden from everybody. Returns the places that had none to take. */
export function restored(then: string, hidden: string[], now: string): { text: string; lost: string[] } {
  const lost: string[] = [];
  let text = then;
  for (const at of [...hidden].reverse()) { // the last first: what is removed moves none of those before it
    const p = pathOf(text, at), node = find(parse(now), p);
    if (node) text = put(text, p, JSON.stringify(valueOf(now, node)));
    else { lost.unshift(at); text = put(text, p, undefined); }
  }
  const definition = parse(now).members?.some(m => m.key === 'api_definition');
  if (definition) for (const m of parse(text).members ?? []) now = put(now, [m.key], text.slice(m.node.from, m.node.to)); // what surrounds a definition stays
  return { text: pretty(definition ? now : text), lost };
}

/** What became of a record. Each of its states can be taken back: it is looked at, and saved like any other change. */
export function HistoryOf({ kind, id, now, take }: { kind: string; id: string; now: string; take?: (text: string, lost: string[]) => void }) {
  const list = operations.get('history.list')!, one = operations.get('history.get')!, [page, turn] = useState(1), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false);
  const { data, fault: away, again } = useAnswer(list, { kind, id, p: String(page) }), rows = rowsOf(data, list), pages = data?.pages ?? 1;
  const back = async (revision: number) => {
    setBusy(true); setFault(undefined);
    try {
      const a = await call(one, { kind, id, revision: String(revision) }), t = parse(a.text), then = t.members!.find(m => m.key === 'document')!.node;
      const r = restored(a.text.slice(then.from, then.to), a.data.hidden ?? [], now);
      take!(r.text, r.lost);
    } catch (e) { setFault(e as Problem); }
    setBusy(false);
  };
  return <section class="read" aria-label="History"><Trouble p={away ?? fault} op={list} retry={away && again} />{!data && !away && <Loading what="the history" />}
    {data && !rows.length && <p class="soft">There are no further changes.</p>}
    <ol class="history">{rows.map((c: any, i: number) => <li key={c.revision}>
      <p><strong>{c.action || c.operation || c.op}</strong> <Time at={c.date} /> <span class="soft">by {c.user || c.actor || 'the service'}</span></p>
      {c.diff.length > 0 && <ul>{c.diff.map((d: any) => <li key={d.path}><code>{d.path || 'all of it'}</code>: <code>{short(d.from)}</code> became <code>{short(d.to)}</code></li>)}</ul>}
      {c.more > 0 && <p class="soft">{c.more} more {c.more === 1 ? 'place' : 'places'}.</p>}
      {take && c.op !== 'deleted' && (i > 0 || page > 1) && <button type="button" disabled={busy} onClick={() => back(c.revision)}>Make it what it was then…</button>}
    </li>)}</ol>
    {pages > 1 && <div class="actions"><button type="button" disabled={page <= 1} onClick={() => turn(page - 1)}>Later changes</button><span>Page {page} of {pages}</span><button type="button" disabled={page >= pages} onClick={() => turn(page + 1)}>Earlier changes</button></div>}
  </section>;
}
