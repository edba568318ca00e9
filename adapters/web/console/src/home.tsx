import { useEffect, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Problem, listen, send } from './http';
import { call, may, operations, rowsOf, whoami } from './spec';
import { to } from './route';
import { Loading, Trouble, ago, say } from './ui';

/** Asks an operation once, and again when the server is back. Undefined while it waits; null where the caller may not ask. */
function useAnswer(id: string, values?: Record<string, string>): { data: any; fault?: Problem; again: () => void } {
  const [data, set] = useState<any>(), [fault, setFault] = useState<Problem>(), [round, setRound] = useState(0), op = operations.get(id);
  useEffect(() => {
    if (!op || !may(op)) { set(null); return; }
    let gone = false;
    setFault(undefined);
    call(op, values).then(a => { if (!gone) set(a.data); }, e => { if (!gone) setFault(e); });
    const stop = listen(e => { if (e === 'back') setRound(n => n + 1); });
    return () => { gone = true; stop(); };
  }, [id, round]);
  return { data, fault, again: () => setRound(round + 1) };
}

const Panel = ({ title, children, fault, again, op }: { title: string; children: ComponentChildren; fault?: Problem; again?: () => void; op?: string }) => <section class="panel"><h2>{title}</h2>{fault ? <Trouble p={fault} op={op ? operations.get(op) : undefined} retry={again} /> : children}</section>;

export function Home() {
  const me = whoami(), apis = useAnswer('apis.list', { p: '1', compressed: '1' });
  const empty = apis.data && rowsOf(apis.data).length === 0;
  return <>
    <header class="page"><h1>{me?.first_name ? `Hello, ${me.first_name}` : 'Home'}</h1></header>
    {empty && <FirstSteps done={apis.again} />}
    <div class="panels"><Health /><Attention /><Lately /></div>
  </>;
}

function Health() {
  const [data, set] = useState<any>(), [fault, setFault] = useState<Problem>(), [round, setRound] = useState(0), nodes = useAnswer('system.nodes.list');
  useEffect(() => { setFault(undefined); send({ method: 'GET', path: '/hello' }).then(a => set(a.data), setFault); return listen(e => { if (e === 'back') setRound(n => n + 1); }); }, [round]);
  return <Panel title="Health" fault={fault} again={() => setRound(round + 1)}>
    {!data ? <Loading what="health" /> : <><p><span class={data.status === 'pass' ? 'badge yes' : 'badge bad'}>{data.status === 'pass' ? 'All is well' : data.status === 'warn' ? 'Something is not as it should be' : 'Failing'}</span> <span class="soft">version {data.version}</span></p>
      <ul class="plain">{Object.entries<any>(data.details ?? {}).map(([k, v]) => <li key={k}><span class={v.status === 'pass' ? 'badge yes' : 'badge bad'}>{v.status}</span> {k}{v.output && <span class="soft"> {v.output}</span>}</li>)}</ul></>}
    {nodes.data && <p>{nodes.data.nodes?.length ? <a href={to(['system.nodes'])}>{nodes.data.nodes.length} {nodes.data.nodes.length === 1 ? 'gateway is' : 'gateways are'} connected</a> : 'No gateway is connected.'}</p>}
  </Panel>;
}

/** What somebody should look at. Each finding leads to the place where it is mended. */
function Attention() {
  const feeds = useAnswer('system.feeds.list'), loose = useAnswer('clientidps.report'), keys = useAnswer('doctor.keys'), intents = useAnswer('intents.list', { p: '1' }), certs = useAnswer('notifications.list');
  const found: { text: string; address: string }[] = [];
  for (const f of rowsOf(feeds.data)) for (const l of f.left_out ?? []) found.push({ text: `${l.kind} ${l.id} is left out of the feed ${f.feed}: ${(l.problems ?? []).map((p: any) => p.path).join(', ')}`, address: to(['system.feeds']) });
  for (const x of loose.data?.dangling ?? []) found.push({ text: `${x.name || x.id} maps to ${x.to?.kind ?? 'something'} ${x.to?.id ?? ''}, which does not exist`, address: to(['clientidps', x.id]) });
  for (const k of keys.data?.keys ?? []) found.push({ text: `Key ${k.alias || k.key_hash}: ${k.problems?.[0]?.text ?? 'refused by gateways'}`, address: to(['keys', k.key_hash]) });
  for (const i of rowsOf(intents.data)) if (i.state === 'failed') found.push({ text: `${i.operation ?? 'A change'} of gateways failed`, address: to(['intents', i.id]) });
  for (const n of rowsOf(certs.data)) if (n.message ?? n.title) found.push({ text: String(n.title ?? n.message), address: to(['notifications']) });
  const asked = [feeds, loose, keys, intents, certs], waiting = asked.some(a => a.data === undefined && !a.fault), failed = asked.filter(a => a.fault && a.fault.status !== 403 && a.fault.status !== 400 && a.fault.status !== 404);
  return <Panel title="Needs attention">
    {waiting && <Loading what="findings" />}
    {found.length > 0 ? <ul class="plain">{found.slice(0, 12).map((f, i) => <li key={i}><a href={f.address}>{f.text}</a></li>)}{found.length > 12 && <li class="soft">and {found.length - 12} more</li>}</ul> : !waiting && !failed.length && <p class="soft">Nothing.</p>}
    {failed.map((a, i) => <Trouble key={i} p={a.fault} retry={a.again} />)}
  </Panel>;
}

function Lately() {
  const a = useAnswer('audit.list', { p: '1' });
  if (a.data === null) return null;
  const rows = rowsOf(a.data);
  return <Panel title="What changed lately" fault={a.fault?.status === 400 ? undefined : a.fault} again={a.again} op="audit.list">
    {a.fault ? <p class="soft">The audit trail is off: the setting audit.enabled turns it on.</p> : !a.data ? <Loading what="changes" /> : rows.length ? <ul class="plain">{rows.slice(0, 8).map(x => <li key={x._id}><a href={to(['audit', x._id])}>{x.action}</a> <span class="soft">{x.user || 'the service'}, {ago(x.timestamp)}{x.verdict !== 'allowed' && x.verdict ? `, refused: ${x.verdict}` : ''}</span></li>)}</ul> : <p class="soft">Nothing yet.</p>}
  </Panel>;
}

const example = { api: 'example-orders', policy: 'example-read' };

/** A worked example: an API, a policy for it, and who may have it. */
function FirstSteps({ done }: { done: () => void }) {
  const [at, setAt] = useState(0), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false), [upstream, setUpstream] = useState('http://127.0.0.1:8080/'), [issuer, setIssuer] = useState('https://login.example.com/'), [keys, setKeys] = useState('https://login.example.com/.well-known/jwks.json');
  const steps = [
    { title: 'An API', text: 'A gateway answers at /example-orders/, asks for a token (a JWT), and passes calls on to your service.', op: 'apis.oas.create', body: () => ({ openapi: '3.0.3', info: { title: 'Example orders', version: '1.0.0' }, paths: {}, components: { securitySchemes: { jwtAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } }, security: [{ jwtAuth: [] }],
      'x-tyk-api-gateway': { info: { id: example.api, name: 'Example orders', state: { active: true } }, upstream: { url: upstream }, server: { listenPath: { value: '/example-orders/', strip: true }, authentication: { enabled: true, securitySchemes: { jwtAuth: { enabled: true, signingMethod: 'rsa', subjectClaims: ['sub'], header: { enabled: true, name: 'Authorization' } } } } } } }) },
    { title: 'A policy', text: 'It allows 100 calls a minute of this API.', op: 'policies.create', body: () => ({ id: example.policy, name: 'Example: read orders', active: true, state: 'active', rate: 100, per: 60, quota_max: -1, access_rights: { [example.api]: { api_id: example.api, api_name: 'Example orders', versions: ['Default'] } } }) },
    { title: 'An identity provider', text: 'A token of this provider with the scope “read” gets the policy.', op: 'clientidps.create', body: () => ({ client_idp_id: 'example-idp', name: 'Example provider', issuer, jwks_uri: keys, scope_claim_name: 'scope', api_mappings: { [example.api]: { scope_to_policy: { read: example.policy } } } }) },
  ];
  const step = steps[at], op = step && operations.get(step.op);
  const run = async () => { setBusy(true); setFault(undefined); try { await call(op!, {}, JSON.stringify(step.body())); setAt(at + 1); say(`${step.title} is there.`); } catch (e) { setFault(e as Problem); } setBusy(false); };
  return <section class="panel first"><h2>First steps</h2><p>Nothing is here yet. Three clicks make a worked example; you see each call before it is made, and you can delete all of it later.</p>
    <ol class="steps">{steps.map((s, i) => <li key={s.title} class={i < at ? 'past' : i === at ? 'now' : ''} aria-current={i === at ? 'step' : undefined}>{s.title}{i < at && ' ✓'}</li>)}</ol>
    {step ? <><p>{step.text}</p>{at === 0 && <div class="field"><label for="upstream">Your service</label><input id="upstream" type="url" value={upstream} onInput={(e: any) => setUpstream(e.target.value)} /></div>}
      {at === 2 && <><div class="field"><label for="issuer">Who signs tokens (issuer)</label><input id="issuer" value={issuer} onInput={(e: any) => setIssuer(e.target.value)} /></div><div class="field"><label for="jwks">Address of its public keys</label><input id="jwks" type="url" value={keys} onInput={(e: any) => setKeys(e.target.value)} /></div></>}
      <details><summary>The call: {op?.method} {op?.path}</summary><pre class="answer">{JSON.stringify(step.body(), null, 2)}</pre></details><Trouble p={fault} op={op} />
      <div class="actions"><button type="button" class="primary" disabled={busy || !op} onClick={run}>{busy ? 'Making it…' : `Make ${step.title.replace(/^A/, 'a')}`}</button><a class="button" href="#/apis/import">Import an API instead</a></div></>
      : <><p>That is all: gateways have loaded it by now. Look at the <a href={to(['apis.oas', example.api])}>API</a>, the <a href={to(['policies', example.policy])}>policy</a> and the <a href={to(['clientidps', 'example-idp'])}>provider</a>.</p><button type="button" onClick={done}>Close</button></>}
  </section>;
}
