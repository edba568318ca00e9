import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Stretch } from './codemirror';
import { Problem } from './http';
import { Operation, call, may, needs, operations } from './spec';
import { guard } from './route';
import { Editor } from './editor';
import { Rehearsed, Sides } from './review';
import { Denied, Dialog, Loading, Time, Trouble, say } from './ui';

/** Rules in Rego: written, tried on a request that is only described, and on what was done before, then stored. */
export function RulesPage() {
  const read = operations.get('rules.get')!, write = operations.get('rules.replace')!;
  const [base, setBase] = useState<{ text: string; etag: string | null; own: boolean }>(), [text, setText] = useState(''), [fault, setFault] = useState<Problem>(), [round, again] = useState(0), [step, setStep] = useState<{ meta?: any; busy?: boolean }>(), [ran, setRan] = useState<{ of: string; coverage: Coverage }>(), [go, setGo] = useState<{ line: number }>();
  useEffect(() => { if (!may(read)) return; setFault(undefined); call(read).then(a => { const t = a.data?.open_policy?.rules ?? ''; setBase({ text: t, etag: a.etag, own: !!a.etag }); setText(t); }, setFault); }, [round]);
  useEffect(() => { guard(() => !!base && text !== base.text); return () => guard(undefined); }, [text, base]);
  // What was evaluated is shown beside that very text: not beside one that was written since.
  const shown = ran?.of === text ? ran.coverage : undefined, marks = useMemo(() => shown && lines(shown), [shown]), note = (a: any) => setRan({ of: text, coverage: a.coverage });
  if (!may(read)) return <><h1>Rules</h1><Denied op={read} /></>;
  const body = JSON.stringify({ open_policy: { rules: text } }), changed = !!base && text !== base.text, draft = changed ? { open_policy: { rules: text } } : {};
  const review = async () => { setFault(undefined); setStep({ busy: true }); try { const a = await call(write, { dry_run: 'true', 'If-Match': base?.etag ?? '' }, body); setStep({ meta: a.data?.Meta }); } catch (e) { setFault(e as Problem); setStep(undefined); } };
  const save = async () => { setStep({ busy: true }); try { await call(write, { 'If-Match': base?.etag ?? '' }, body); setStep(undefined); guard(undefined); say('The rules are in force.'); again(round + 1); } catch (e) { setFault(e as Problem); setStep(undefined); } };
  return <><header class="page"><h1>Rules</h1></header><p class="soft">Rules decide about requests of your organisation. {base && !base.own && 'There are none of its own: those of the service apply.'}</p>
    <Trouble p={fault?.status === 412 ? { ...fault, detail: 'Somebody else changed the rules meanwhile. Copy your text, then load the page again.' } : fault} op={write} retry={base ? undefined : () => again(round + 1)} />
    {!base && !fault && <Loading what="the rules" />}
    {base && <><Editor language="rego" label="Rules in Rego" text={text} marks={marks} go={go} onChange={setText} />
      {shown && <Ran of={shown} go={line => setGo({ line })} />}
      <div class="actions"><button type="button" class="primary" disabled={!changed || !may(write)} onClick={review}>Review and save…</button><button type="button" disabled={!changed} onClick={() => setText(base.text)}>Discard changes</button>{!may(write) && <span class="soft">To change them you need {needs(write)}.</span>}</div>
      <div class="panels"><Evaluate draft={draft} ran={note} /><Replay draft={draft} ran={note} /></div></>}
    {step && base && <Dialog title="Save these rules?" close={() => setStep(undefined)} wide><Sides before={base.text} after={text} />{step.busy ? <Loading what="what would change" /> : step.meta && <Rehearsed meta={step.meta} own="" />}<div class="actions"><button type="button" class="primary" disabled={step.busy} autoFocus onClick={save}>Save</button><button type="button" onClick={() => setStep(undefined)}>Go on editing</button></div></Dialog>}
  </>;
}

type Coverage = { lines: number; ran: number; covered: { from: number; to: number }[]; missed: { from: number; to: number }[] };
const lines = (c: Coverage): Stretch[] => [...c.covered.map(s => ({ class: 'ran', ...s })), ...c.missed.map(s => ({ class: 'missed', ...s }))];

/** What of the rules the last trial evaluated, in words: the same as the signs in the editor. Each stretch leads to its first line. */
function Ran({ of: c, go }: { of: Coverage; go: (line: number) => void }) {
  const named = (s: { from: number; to: number }) => s.from === s.to ? `${s.from}` : `${s.from}–${s.to}`;
  return <p class="soft coverage" role="status">{c.ran} of {c.lines} lines were evaluated{c.missed.length > 0 ? <>; not evaluated: {c.missed.slice(0, 50).map((s, i) => <span key={s.from}>{i > 0 && ', '}<button type="button" class="link" aria-label={(s.from === s.to ? 'Line ' : 'Lines ') + named(s)} onClick={() => go(s.from)}>{named(s)}</button></span>)}{c.missed.length > 50 && ' and more'}. Rules whose comparisons with the request cannot hold are passed over.</> : '.'}</p>;
}

function Evaluate({ draft, ran }: { draft: any; ran: (answer: any) => void }) {
  const op = operations.get('rules.evaluate') as Operation, [method, setMethod] = useState('DELETE'), [path, setPath] = useState('/api/apis/oas/orders'), [user, setUser] = useState('{"user_permissions": {"apis": "write"}}'), [body, setBody] = useState('');
  const [found, set] = useState<any>(), [fault, setFault] = useState<Problem>();
  if (!op || !may(op)) return null;
  const run = async (e: any) => { e.preventDefault(); set(undefined); setFault(undefined); try { const parsed = (t: string, n: string) => { try { return t.trim() ? JSON.parse(t) : undefined; } catch { throw { status: 0, detail: `“${n}” is not valid JSON.` } as Problem; } }; const a = await call(op, {}, JSON.stringify({ method, path, user: parsed(user, 'Who asks'), body: parsed(body, 'Body'), trace: true, ...draft })); set(a.data); ran(a.data); } catch (e) { setFault(e as Problem); } };
  return <section class="panel"><h2>Try a request</h2><form onSubmit={run}>
    <div class="field"><label for="e-method">Method</label><select id="e-method" value={method} onChange={(e: any) => setMethod(e.target.value)}>{['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(m => <option key={m}>{m}</option>)}</select></div>
    <div class="field"><label for="e-path">Path</label><input id="e-path" value={path} onInput={(e: any) => setPath(e.target.value)} /></div>
    <div class="field"><label for="e-user">Who asks, as JSON</label><textarea id="e-user" rows={2} spellcheck={false} value={user} onInput={(e: any) => setUser(e.target.value)} /></div>
    <div class="field"><label for="e-body">Body, as JSON</label><textarea id="e-body" rows={2} spellcheck={false} value={body} onInput={(e: any) => setBody(e.target.value)} /></div>
    <div class="actions"><button>Evaluate</button></div></form><Trouble p={fault} op={op} />
    {found && <div role="status"><p><span class={found.verdict === 'allow' ? 'badge yes' : 'badge bad'}>{found.verdict}</span> by the rules of the {found.rules}{found.operation?.id && <>, operation <code>{found.operation.id}</code></>}</p>{found.failure && <p class="wrong">{found.failure}</p>}{found.reasons?.length > 0 && <ul>{found.reasons.map((x: string) => <li key={x}>{x}</li>)}</ul>}{found.message && <p>The caller is told: {found.message}</p>}
      {found.trace?.length > 0 && <details><summary>Steps</summary><pre class="answer">{found.trace.map((s: any) => `${String(s.row ?? '').padStart(4)}  ${s.op}  ${s.text}`).join('\n')}</pre></details>}</div>}
  </section>;
}

function Replay({ draft, ran }: { draft: any; ran: (answer: any) => void }) {
  const op = operations.get('rules.replay') as Operation, [last, setLast] = useState('100'), [found, set] = useState<any>(), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false);
  if (!op || !may(op)) return null;
  const run = async (e: any) => { e.preventDefault(); setBusy(true); set(undefined); setFault(undefined); try { const a = await call(op, {}, JSON.stringify({ last: Number(last), ...draft })); set(a.data); ran(a.data); } catch (e) { setFault(e as Problem); } setBusy(false); };
  return <section class="panel"><h2>Try past writes</h2><p class="soft">Which of the newest writes would these rules have refused?</p><form onSubmit={run}><div class="field"><label for="r-last">How many writes</label><input id="r-last" type="number" min={1} max={1000} value={last} onInput={(e: any) => setLast(e.target.value)} /></div><div class="actions"><button disabled={busy}>{busy ? 'Replaying…' : 'Replay'}</button></div></form><Trouble p={fault} op={op} />
    {found && <div role="status"><p>{found.refused.length} of {found.replayed} would have been refused.{found.uncertain > 0 && ` ${found.uncertain} are uncertain: the trail keeps no bodies.`}</p>{found.refused.length > 0 && <ul class="plain">{found.refused.slice(0, 100).map((x: any) => <li key={x._id}><a href={'#/audit/' + encodeURIComponent(x._id)}>{x.method} {x.url}</a> <span class="soft">{x.user}, <Time at={x.timestamp} />{!x.certain && ', uncertain'}</span>{x.reasons?.length > 0 && <>: {x.reasons.join('; ')}</>}</li>)}</ul>}</div>}
  </section>;
}
