import { useEffect, useState } from 'preact/hooks';
import { parse, valueOf } from './doc';
import { Problem } from './http';
import { Resource, call, operations } from './spec';
import { Route, to } from './route';
import { ListPage } from './list';
import { Shown } from './shown';
import { Dialog, Loading, Time, Trouble, Value } from './ui';

type Verdict = { records: number; first: number; last: number; faults: string[] };

const hex = (b: ArrayBuffer) => [...new Uint8Array(b)].map(x => x.toString(16).padStart(2, '0')).join('');

/** Follows the chain: each record's hash is of its own text, and each record names the hash of the one before. */
export async function verify(text: string): Promise<Verdict> {
  const items = parse(text).items ?? [], out: Verdict = { records: items.length, first: 0, last: 0, faults: [] };
  let before: { seq: number; hash: string } | undefined;
  for (const n of [...items].reverse()) {
    const r = valueOf(text, n), own = text.slice(n.from, n.to).replace(/"hash":"[0-9a-f]*"\}$/, '"hash":""}');
    const sum = hex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(own)));
    if (sum !== r.hash) out.faults.push(`Record ${r.seq} was changed: its hash is not that of its text.`);
    if (before && r.seq !== before.seq + 1) out.faults.push(`After record ${before.seq} comes ${r.seq}: records are missing.`);
    else if (before && r.prev !== before.hash) out.faults.push(`Record ${r.seq} does not follow record ${before.seq}.`);
    before = { seq: r.seq, hash: r.hash };
    out.first ||= r.seq; out.last = r.seq;
  }
  return out;
}

export function AuditPage({ r, route }: { r: Resource; route: Route }) {
  const [open, set] = useState(false);
  return <><ListPage r={r} route={route} /><p class="after"><button type="button" onClick={() => set(true)}>Verify the chain…</button> <span class="soft">Your browser computes every hash by itself.</span></p>{open && <Verify r={r} close={() => set(false)} />}</>;
}

function Verify({ r, close }: { r: Resource; close: () => void }) {
  const [v, set] = useState<Verdict>(), [fault, setFault] = useState<Problem>();
  useEffect(() => {
    if (!globalThis.crypto?.subtle) { setFault({ status: 0, detail: 'Browsers compute hashes on pages that come by HTTPS, or from this machine, and on no other. Use `gatehouse audit verify`.' }); return; }
    call(r.operations.list, { download: 'true' }).then(a => verify(a.text)).then(set, e => setFault('detail' in e ? e : { status: 0, detail: String(e.message) }));
  }, []);
  return <Dialog title="Verify the audit trail" close={close}><Trouble p={fault} op={r.operations.list} />{!v && !fault && <Loading what="all records" />}
    {v && (v.faults.length ? <div class="trouble" role="alert"><strong>The trail was tampered with, or is damaged.</strong><ul>{v.faults.slice(0, 50).map(f => <li key={f}>{f}</li>)}</ul></div> : <p><span class="badge yes">The chain holds</span> {v.records} records, {v.first} to {v.last}.</p>)}
    <p class="soft">This follows the chain of your organisation. Signatures of checkpoints are verified by <code>gatehouse audit verify</code>, which has the keys.</p></Dialog>;
}

/** One record: who, what, and the difference it made. */
export function AuditRecord({ id }: { id: string }) {
  const op = operations.get('audit.get')!, [x, set] = useState<any>(), [fault, setFault] = useState<Problem>(), [round, again] = useState(0);
  useEffect(() => { setFault(undefined); set(undefined); call(op, { [op.parameters.find(p => p.in === 'path')!.name]: id }).then(a => set(a.data), setFault); }, [id, round]);
  return <><nav class="crumbs" aria-label="Where you are"><a href="#/audit">Audit records</a></nav>
    <header class="page"><h1>{x?.action ?? `Record ${Number.parseInt(id, 16) || id}`}</h1></header>
    <Trouble p={fault} op={op} retry={() => again(round + 1)} />{!x && !fault && <Loading what="the record" />}
    {x && <><p>{x.user || x.actor || 'The service'}, <Time at={x.timestamp} />{x.ip && <>, from <code>{x.ip}</code></>} <span class={x.verdict === 'allowed' ? 'badge yes' : 'badge bad'}>{x.verdict}</span></p>
      {x.user && <p><a href={to(['audit'], { user: x.user })}>Everything by {x.user}</a></p>}
      <h2>What it changed</h2>
      {x.diff?.length ? <div class="scroll" tabIndex={0} role="region" aria-label="What it changed"><table><thead><tr><th scope="col">Record</th><th scope="col">Where</th><th scope="col">Before</th><th scope="col">After</th></tr></thead><tbody>{x.diff.map((d: any, i: number) => <tr key={i}><td>{d.subject}</td><th scope="row"><code>{d.path || 'all of it'}</code></th><td class="old"><Side v={d.from} /></td><td class="new"><Side v={d.to} /></td></tr>)}</tbody></table></div> : <p class="soft">No difference is recorded.</p>}
      <h2>The record</h2><section class="read"><Shown v={Object.fromEntries(Object.entries(x).filter(([k]) => k !== 'diff'))} /></section></>}
  </>;
}
const Side = ({ v }: { v: any }) => v !== null && typeof v === 'object' ? <code>{JSON.stringify(v)}</code> : <Value v={v} long />;
