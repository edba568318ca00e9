import { useEffect, useMemo, useState } from 'preact/hooks';
import { curl, Problem } from './http';
import { ask, call, may, needs, operations, rowsOf } from './spec';
import { Route, guard, refine, to } from './route';
import { Rehearsed, Sides } from './review';
import { Denied, Dialog, Loading, Trouble, copy, say } from './ui';
import { Mappings, Names, applied, gaps, names, parsePaste, patchBetween, scopesOf, verdict } from './mappings';

/** Asks for all of a list: names of APIs and policies, to tell what exists. Null where the caller may not ask. */
async function namesOf(id: string, values: Record<string, string>, keys: string[]): Promise<Names | null> {
  const op = operations.get(id);
  if (!op || !may(op)) return null;
  const everything = op.list?.page;
  return names(rowsOf((await call(op, { ...values, ...everything && { [everything.parameter]: everything.everything ?? '0' } })).data, op), keys);
}

type Known = { apis: Names | null; policies: Names | null };

/** What exists, as far as the caller may see it. */
function useKnown(): { known?: Known; fault?: Problem; again: () => void } {
  const [known, set] = useState<Known>(), [fault, setFault] = useState<Problem>(), [round, again] = useState(0);
  useEffect(() => {
    setFault(undefined);
    Promise.all([namesOf('apis.list', { compressed: '1' }, ['api_id', 'id']), namesOf('policies.list', {}, ['id', '_id'])]).then(([apis, policies]) => set({ apis, policies }), setFault);
  }, [round]);
  return { known, fault, again: () => again(round + 1) };
}

export function RegistryPage({ id, route }: { id?: string; route: Route }) {
  const read = operations.get('clientidps.get')!;
  if (!may(read)) return <><h1>Registry</h1><Denied op={read} /></>;
  return id ? <Matrix key={id} id={id} route={route} /> : <Providers />;
}

/** All providers, and what of their mappings leads nowhere. */
function Providers() {
  const list = operations.get('clientidps.list')!, report = operations.get('clientidps.report')!, create = operations.get('clientidps.create');
  const [rows, setRows] = useState<any[]>(), [loose, setLoose] = useState<any[]>([]), [fault, setFault] = useState<Problem>(), [round, again] = useState(0);
  useEffect(() => {
    setFault(undefined);
    Promise.all([call(list, { p: list.list?.page?.everything ?? '0' }), call(report)]).then(([a, b]) => { setRows(rowsOf(a.data, list)); setLoose(b.data?.dangling ?? []); }, setFault);
  }, [round]);
  const of = (p: any) => loose.filter(x => x.id === p.client_idp_id);
  return <><header class="page"><h1>Registry</h1><div class="bar">{may(create) && <a class="button primary" href="#/clientidps/+new">New provider</a>}</div></header>
    <p class="soft">Which identity provider signs tokens, and which policy a scope of a token grants on which API.</p>
    <Trouble p={fault} op={list} retry={() => again(round + 1)} />
    {!rows && !fault && <Loading what="the registry" />}
    {rows && rows.length === 0 && <p class="empty">There is no identity provider yet. {may(create) && <a href="#/clientidps/+new">Register one.</a>}</p>}
    {rows && rows.length > 0 && <div class="scroll" tabIndex={0} role="region" aria-label="Identity providers"><table><thead><tr><th scope="col">Provider</th><th scope="col">Issuer</th><th scope="col">APIs</th><th scope="col">Scopes</th><th scope="col">Lead nowhere</th></tr></thead>
      <tbody>{rows.map(p => <tr key={p._id}><th scope="row"><a href={to(['registry', p.client_idp_id])}>{p.name}</a></th><td><span class="value">{p.issuer}</span></td><td>{Object.keys(p.api_mappings ?? {}).length}</td><td>{scopesOf(p.api_mappings ?? {}).length}</td><td>{of(p).length ? <span class="badge bad">{of(p).length}</span> : <span class="soft">none</span>}</td></tr>)}</tbody></table></div>}
  </>;
}

/** Fields that are drawn at most; a browser stands still over many more. */
const mostRows = 200, mostColumns = 200, mostFields = 4000;

/** One provider: a row for each API, a column for each scope, the policy where they meet. */
function Matrix({ id, route }: { id: string; route: Route }) {
  const read = operations.get('clientidps.get')!, patch = operations.get('clientidps.mappings.patch')!, editable = may(patch);
  const [base, setBase] = useState<{ name: string; issuer: string; mappings: Mappings; etag: string | null }>(), [draft, setDraft] = useState<Mappings>({}), [fault, setFault] = useState<Problem>(), [round, again] = useState(0);
  const [step, setStep] = useState<{ busy?: boolean; meta?: any }>(), [pasting, setPasting] = useState(false), [explained, explain] = useState<string>(), [newScope, setNewScope] = useState(''), [newAPI, setNewAPI] = useState('');
  const { known, fault: unknown, again: askAgain } = useKnown(), [columns, setColumns] = useState<string[]>([]);
  const difference = useMemo(() => base ? patchBetween(base.mappings, draft) : {}, [base, draft]), changed = Object.keys(difference).length > 0;
  useEffect(() => { guard(() => changed); return () => guard(undefined); }, [changed]);
  const load = async (keep: Mappings | undefined) => {
    setFault(undefined);
    try {
      const a = await call(read, { id }), mappings: Mappings = a.data?.api_mappings ?? {};
      setBase({ name: a.data.name, issuer: a.data.issuer, mappings, etag: a.etag });
      setDraft(keep ? applied(mappings, keep) : mappings);
    } catch (e) { setFault(e as Problem); }
  };
  useEffect(() => { load(undefined); }, [id, round]);
  const scopes = useMemo(() => [...new Set([...scopesOf(draft), ...columns])], [draft, columns]), find = (route.query.get('q') ?? '').toLowerCase(), only = route.query.get('only') ?? '';
  const noAPI = (api: string) => !!known?.apis && !known.apis.has(api), noPolicy = (policy: string | undefined) => !!policy && !!known?.policies && !known.policies.has(policy);
  const missing = useMemo(() => gaps(draft), [draft]);
  const rows = Object.keys(draft).filter(api => (api + ' ' + (known?.apis?.get(api) ?? '')).toLowerCase().includes(find) && (only !== 'gaps' || missing.has(api)) && (only !== 'nowhere' || noAPI(api) || Object.values(draft[api].scope_to_policy ?? {}).some(noPolicy)));
  const drawn = rows.slice(0, Math.max(20, Math.min(mostRows, Math.floor(mostFields / (scopes.length || 1))))), across = drawn.length * scopes.length <= mostFields ? scopes : scopes.filter(s => columns.includes(s) || drawn.some(api => draft[api]?.scope_to_policy?.[s] !== undefined)).slice(0, mostColumns);
  const put = (api: string, scope: string, policy: string) => setDraft(d => { const of = { ...d[api]?.scope_to_policy }; if (policy) of[scope] = policy; else delete of[scope]; return { ...d, [api]: { scope_to_policy: of } }; });
  const review = async () => {
    setFault(undefined); setStep({ busy: true });
    try { const a = await call(patch, { id, dry_run: 'true', 'If-Match': base?.etag ?? '' }, JSON.stringify(difference)); setStep({ meta: a.data?.Meta }); } catch (e) { await refused(e as Problem); }
  };
  const refused = async (e: Problem) => {
    setStep(undefined);
    if (e.status !== 412) { setFault(e); return; }
    await load(difference as Mappings);
    say('Somebody else changed the mappings meanwhile. Theirs are loaded, and your changes stand on top of them: look, and save again.');
  };
  const save = async () => {
    setStep({ busy: true });
    try { await call(patch, { id, 'If-Match': base?.etag ?? '' }, JSON.stringify(difference)); setStep(undefined); guard(undefined); say('The mappings are stored. Gateways load them within a second or two.'); again(round + 1); } catch (e) { await refused(e as Problem); }
  };
  const text = JSON.stringify(difference, null, 2);
  return <><nav class="crumbs" aria-label="Where you are"><a href="#/registry">Registry</a></nav>
    <header class="page"><h1>{base?.name ?? id}{changed && <span class="badge"> unsaved</span>}</h1><div class="bar"><a class="button" href={to(['clientidps', id])}>The record</a></div></header>
    <Trouble p={fault} op={base ? patch : read} retry={base ? undefined : () => again(round + 1)} /><Trouble p={unknown} retry={askAgain} />
    {!base && !fault && <Loading what={id} />}
    {base && <><p class="soft">Tokens of {base.issuer ? <code>{base.issuer}</code> : 'any issuer'}. A row is an API, a column a scope of tokens, a cell the policy that the scope grants there.{!editable && ` To change them you need ${needs(patch)}.`}</p>
      <div class="tools"><input type="search" id="find" aria-label="Find an API" placeholder="Find an API…" value={route.query.get('q') ?? ''} onInput={(e: any) => refine(route, { q: e.target.value })} />
        <label>Show <select value={only} onChange={(e: any) => refine(route, { only: e.target.value })}><option value="">all rows</option><option value="gaps">rows with gaps</option><option value="nowhere">what leads nowhere</option></select></label>
        {editable && <button type="button" onClick={() => setPasting(true)}>Paste many…</button>}</div>
      {rows.length === 0 ? <p class="empty">{Object.keys(draft).length ? 'No row is like that.' : 'Nothing is mapped yet.'}</p> : <div class="scroll" tabIndex={0} role="region" aria-label="Mappings"><table class="matrix"><thead><tr><th scope="col">API</th>{across.map(s => <th key={s} scope="col"><code>{s}</code></th>)}{editable && <th scope="col"><span class="hidden">Remove</span></th>}</tr></thead>
        <tbody>{drawn.map(api => <tr key={api}><th scope="row"><button type="button" class="link" onClick={() => explain(api)}>{known?.apis?.get(api) ?? api}</button> {known?.apis?.get(api) && <span class="soft">{api}</span>}{noAPI(api) && <span class="badge bad">no such API</span>}</th>
          {across.map(s => { const policy = draft[api]?.scope_to_policy?.[s], gap = policy === undefined && missing.get(api)?.includes(s); return <td key={s}>
            {editable ? <input list="policies" aria-label={`Policy of ${s} on ${known?.apis?.get(api) ?? api}`} value={policy ?? ''} aria-invalid={noPolicy(policy)} placeholder={gap ? 'gap' : '—'} onChange={(e: any) => put(api, s, e.target.value.trim())} /> : policy ?? <span class="soft">{gap ? 'gap' : '—'}</span>}
            {noPolicy(policy) && <span class="badge bad">no such policy</span>}{policy && known?.policies?.get(policy) && known.policies.get(policy) !== policy && <span class="soft">{known.policies.get(policy)}</span>}{gap && <span class="badge">gap</span>}</td>; })}
          {editable && <td><button type="button" class="quiet" aria-label={`Remove ${api}`} onClick={() => setDraft(d => { const { [api]: _, ...rest } = d; return rest; })}>✕</button></td>}</tr>)}</tbody></table></div>}
      {rows.length > drawn.length && <p class="soft">{rows.length - drawn.length} more rows{across.length < scopes.length && `, with ${scopes.length - across.length} more scopes`}: find what you look for.</p>}
      <datalist id="policies">{[...known?.policies ?? []].slice(0, 2000).map(([k, v]) => <option key={k} value={k}>{v}</option>)}</datalist><datalist id="mapped-apis">{[...known?.apis ?? []].slice(0, 2000).map(([k, v]) => <option key={k} value={k}>{v}</option>)}</datalist>
      {editable && <div class="tools"><label>Another API <input list="mapped-apis" value={newAPI} onInput={(e: any) => setNewAPI(e.target.value)} /></label><button type="button" disabled={!newAPI.trim() || !!draft[newAPI.trim()]} onClick={() => { setDraft(d => ({ ...d, [newAPI.trim()]: { scope_to_policy: {} } })); setNewAPI(''); }}>Add row</button>
        <label>Another scope <input value={newScope} onInput={(e: any) => setNewScope(e.target.value)} /></label><button type="button" disabled={!newScope.trim() || scopes.includes(newScope.trim())} onClick={() => { setColumns([...columns, newScope.trim()]); setNewScope(''); }}>Add column</button></div>}
      {editable && <div class="actions sticky"><button type="button" class="primary" disabled={!changed} onClick={review}>Review and save…</button><button type="button" disabled={!changed} onClick={() => setDraft(base.mappings)}>Discard changes</button><button type="button" disabled={!changed} onClick={() => copy(curl(ask(patch, { id, 'If-Match': base.etag ?? '' }, text)), 'The command')}>Copy as curl</button></div>}</>}
    {step && base && <Dialog title="Save these mappings?" close={() => setStep(undefined)} wide><p>One merge patch, stored all or nothing: <code>null</code> removes, what is not mentioned stays.</p><details open><summary>The merge patch</summary><pre class="answer">{text}</pre></details>
      <Sides before={JSON.stringify(base.mappings, null, 2)} after={JSON.stringify(draft, null, 2)} />{step.busy ? <Loading what="what would change" /> : step.meta && <Rehearsed meta={step.meta} own={id} />}
      <div class="actions"><button type="button" class="primary" autoFocus disabled={step.busy} onClick={save}>Save</button><button type="button" onClick={() => setStep(undefined)}>Go on editing</button></div></Dialog>}
    {pasting && base && <Paste known={known} close={() => setPasting(false)} take={m => { setDraft(d => applied(d, m)); setPasting(false); say('The lines are in the matrix. Nothing is stored yet.'); }} />}
    {explained !== undefined && base && <Explained api={explained} issuer={base.issuer} of={draft[explained]?.scope_to_policy ?? {}} noPolicy={noPolicy} close={() => explain(undefined)} />}
  </>;
}

/** Lines of a table, from a spreadsheet or a text: API, scope and policy. */
function Paste({ known, take, close }: { known?: Known; take: (m: Mappings) => void; close: () => void }) {
  const [text, set] = useState(''), { mappings, lines, wrong } = useMemo(() => parsePaste(text), [text]);
  const strange = lines.filter(l => known?.apis && !known.apis.has(l.api) || l.policy && known?.policies && !known.policies.has(l.policy));
  return <Dialog title="Paste many mappings" close={close} wide><p>One line for each: API, scope, policy. Blanks, tabs, commas or semicolons stand between them. A line without a policy removes the scope.</p>
    <div class="field"><label for="lines">Lines</label><textarea id="lines" rows={10} spellcheck={false} value={text} placeholder={'orders\tread\tgold'} onInput={(e: any) => set(e.target.value)} /></div>
    <p role="status">{lines.length} {lines.length === 1 ? 'mapping' : 'mappings'} on {Object.keys(mappings).length} {Object.keys(mappings).length === 1 ? 'API' : 'APIs'}.</p>
    {wrong.length > 0 && <div class="trouble" role="alert"><strong>{wrong.length} {wrong.length === 1 ? 'line is' : 'lines are'} not understood.</strong><ul>{wrong.slice(0, 10).map(w => <li key={w.line}>Line {w.line}: {w.why}</li>)}</ul></div>}
    {strange.length > 0 && <p class="soft">{strange.length} {strange.length === 1 ? 'line names' : 'lines name'} an API or a policy that does not exist. It can be mapped all the same, and is marked.</p>}
    <div class="actions"><button type="button" class="primary" disabled={!lines.length || wrong.length > 0} onClick={() => take(mappings)}>Put into the matrix</button><button type="button" onClick={close}>Cancel</button></div></Dialog>;
}

/** What gateways do with a token for an API: its definition first, then the registry. */
function Explained({ api, issuer, of, noPolicy, close }: { api: string; issuer: string; of: Record<string, string>; noPolicy: (p: string | undefined) => boolean; close: () => void }) {
  const read = operations.get('apis.get')!, [definition, set] = useState<any>(), [fault, setFault] = useState<Problem>(), [scope, setScope] = useState('');
  useEffect(() => { call(read, { apiId: api }).then(a => set(a.data?.api_definition ?? {}), setFault); }, [api]);
  const told = definition && verdict(definition, of, scope, noPolicy);
  return <Dialog title={`What gateways do with a token for ${definition?.name ?? api}`} close={close} wide>
    {fault?.status === 404 || fault?.status === 400 ? <p>There is no such API: gateways keep the mapping and never use it. It counts as soon as the API exists.</p> : <Trouble p={fault} op={read} />}
    {!definition && !fault && <Loading what="the definition" />}
    {told && <><div class="field"><label for="token-scopes">Scopes of the token</label><input id="token-scopes" value={scope} placeholder="with blanks between them" onInput={(e: any) => setScope(e.target.value)} /></div>
      <ol>{told.steps.map((s, i) => <li key={i} class={s.ends ? '' : 'soft'}>{s.text}</li>)}</ol><p role="status"><span class={told.good ? 'badge yes' : 'badge bad'}>{told.good ? 'let in' : 'refused'}</span> {told.text}</p>
      <p class="soft">The token must also be signed by a key of the provider{issuer ? <> and name <code>{issuer}</code> as its issuer, or none</> : ''}.</p></>}
    <div class="actions"><a class="button" href={to(['apis', api])} onClick={close}>Open the API</a><button type="button" onClick={close}>Close</button></div></Dialog>;
}
