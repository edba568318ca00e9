import { useMemo, useState } from 'preact/hooks';
import { pretty } from './doc';
import { Change, contested, given, lines, merged, threeWay } from './merge';
import { Dialog } from './ui';

/** Lines that are drawn; more than that is read in the document. */
const most = 1000;

/** Old and new beside each other. */
export function Sides({ before, after }: { before: string; after: string }) {
  const all = useMemo(() => lines(before, after), [before, after]), rows = useMemo(() => pair(all), [all]);
  if (!all.some(l => l.kind !== 'same' && l.kind !== 'gap')) return <p class="soft">Nothing changes.</p>;
  return <div class="scroll" tabIndex={0} role="region" aria-label="What changes"><table class="sides"><caption class="hidden">Lines before and after</caption><thead><tr><th scope="col">Before</th><th scope="col">After</th></tr></thead>
    <tbody>{rows.slice(0, most).map(([a, b], i) => <tr key={i}><td class={a?.kind === 'old' ? 'old' : ''}><Code l={a} n={a?.old} mark="−" /></td><td class={b?.kind === 'new' ? 'new' : ''}><Code l={b} n={b?.new} mark="+" /></td></tr>)}</tbody></table>{rows.length > most && <p class="soft">and {rows.length - most} more lines.</p>}</div>;
}
type L = ReturnType<typeof lines>[number];
const Code = ({ l, n, mark }: { l?: L; n?: number; mark: string }) => l ? <code><span class="n">{n ?? ''}</span><span class="m">{l.kind === 'old' || l.kind === 'new' ? mark : ' '}</span>{l.text}</code> : null;

function pair(all: L[]): [L | undefined, L | undefined][] {
  const out: [L | undefined, L | undefined][] = [];
  for (let i = 0; i < all.length;) {
    if (all[i].kind === 'same' || all[i].kind === 'gap') { out.push([all[i], all[i]]); i++; continue; }
    const old: L[] = [], fresh: L[] = [];
    while (i < all.length && (all[i].kind === 'old' || all[i].kind === 'new')) { (all[i].kind === 'old' ? old : fresh).push(all[i]); i++; }
    for (let k = 0; k < Math.max(old.length, fresh.length); k++) out.push([old[k], fresh[k]]);
  }
  return out;
}

/** What a dry run answered: which records change, and who would be left with a reference to nothing. */
export function Rehearsed({ meta, own }: { meta: any; own: string }) {
  const steps: any[] = meta?.changes ?? [], loose: any[] = meta?.references ?? [], others = steps.filter(s => s.id !== own);
  return <>
    {steps.length === 0 && <p class="soft">The server would change nothing.</p>}
    {others.length > 0 && <><h3>Other records that change</h3><ul>{others.map((s, i) => <li key={i}>{s.op} {s.kind} <strong>{s.name || s.id}</strong>{s.members?.length ? `: ${s.members.join(', ')}` : ''}</li>)}</ul></>}
    {loose.length > 0 && <div class="trouble" role="alert"><strong>{loose.length} {loose.length === 1 ? 'reference leads' : 'references lead'} nowhere afterwards.</strong><ul>{loose.map((x, i) => <li key={i}>{x.kind} {x.name || x.id}, at <code>{x.where}</code>{x.to && <> names {x.to.kind} <code>{x.to.id}</code></>}</li>)}</ul></div>}
  </>;
}

const short = (s: string | undefined) => s === undefined ? 'absent' : s.length > 400 ? s.slice(0, 400) + '…' : s;

/** Somebody else has saved meanwhile: three versions, and a choice for each place where ours and theirs differ. */
export function Conflict(p: { base: string; mine: string; theirs: string; take: (text: string) => void; close: () => void }) {
  const all = useMemo(() => { try { return threeWay(pretty(p.base), pretty(p.mine), pretty(p.theirs)); } catch { return []; } }, [p.base, p.mine, p.theirs]);
  const [picked, pick] = useState<Record<number, 'mine' | 'theirs'>>({});
  const of = (c: Change, i: number) => picked[i] ?? given(c), open = all.filter(contested).length;
  return <Dialog title="Somebody else changed this meanwhile" close={p.close} wide>
    <p>Nothing is lost. {all.length === 0 ? 'Both of you have written the same.' : `You and they differ in ${all.length} ${all.length === 1 ? 'place' : 'places'}; ${open === 0 ? 'none is contested' : `${open} ${open === 1 ? 'was' : 'were'} changed by both`}. Choose what stands, then save again.`}</p>
    <div class="conflicts">{all.map((c, i) => <fieldset key={i} class={contested(c) ? 'contested' : ''}><legend><code>{c.path.join('.') || 'the whole document'}</code>{contested(c) ? ' changed by both' : ''}</legend>
      <p class="soft">Before: <code>{short(c.base)}</code></p>
      {(['mine', 'theirs'] as const).map(who => <label key={who}><input type="radio" name={'c' + i} checked={of(c, i) === who} onChange={() => pick({ ...picked, [i]: who })} /> {who === 'mine' ? 'Yours' : 'Theirs'}: <code>{short(c[who])}</code></label>)}
    </fieldset>)}</div>
    <div class="actions"><button type="button" class="primary" onClick={() => p.take(merged(pretty(p.theirs), all.filter((c, i) => of(c, i) === 'mine')))}>Continue with these</button><button type="button" onClick={p.close}>Back to your version</button></div>
  </Dialog>;
}
