import { useState } from 'preact/hooks';
import { Problem } from './http';
import { Operation, call, may, operations, rightsOf, rowsOf } from './spec';
import { Route, refine, to } from './route';
import { ChoosePolicies } from './keys';
import { Pages } from './shown';
import { Denied, Dialog, Known, Loading, Once, Time, Trouble, say, useAnswer } from './ui';

/** OAuth clients of an API whose gateways issue tokens. */
export function ClientsPage({ route }: { route: Route }) {
  const apis = operations.get('apis.list'), list = operations.get('oauth.list')!, q = route.query, api = q.get('api') ?? '', page = q.get('p') ?? '1', can = !!apis && may(apis);
  const all = useAnswer(can ? apis : undefined, { p: apis?.list?.page?.everything ?? '0', compressed: '1', auth_type: 'oauth' });
  const { data, fault, again } = useAnswer(api && may(list) ? list : undefined, { apiId: api, p: page });
  const [making, make] = useState(false), [secret, setSecret] = useState<any>(), [asked, ask] = useState<any>(), [held, hold] = useState<any>();
  if (!may(list)) return <><h1>OAuth clients</h1><Denied op={list} /></>;
  const choices = rowsOf(all.data, apis).map((x: any) => x.api_definition), rows = api ? rowsOf(data, list) : [], create = operations.get('oauth.create'), rotate = operations.get('oauth.rotate'), remove = operations.get('oauth.delete'), tokens = operations.get('oauth.tokens');
  return <><header class="page"><h1>OAuth clients</h1><div class="bar">{api && may(create) && <button type="button" class="primary" onClick={() => make(true)}>Make a client…</button>}</div></header>
    <div class="tools">{can ? <label>Of the API <select value={api} onChange={(e: any) => refine(route, { api: e.target.value, p: undefined })}><option value="">choose one</option>{api && !choices.some((d: any) => d.api_id === api) && <option value={api}>{api}</option>}{choices.map((d: any) => <option key={d.api_id} value={d.api_id}>{d.name}</option>)}</select></label>
      : <label>Of the API <input value={api} placeholder="API ID" onChange={(e: any) => refine(route, { api: e.target.value, p: undefined })} /></label>}</div>
    <Trouble p={all.fault} op={apis} retry={all.again} />
    {can && all.data && choices.length === 0 && <p class="empty">No API has its own OAuth server. Switch OAuth on in an API, and its clients are made here.</p>}
    {api ? <><Trouble p={fault} op={list} retry={again} />{!data && !fault && <Loading what="clients" />}
      {data && (rows.length === 0 ? <p class="empty">The API has no client yet.</p> : <div class="scroll" tabIndex={0} role="region" aria-label="OAuth clients"><table><thead><tr><th scope="col">Client</th><th scope="col">Policy</th><th scope="col">Redirects to</th><th scope="col">Actions</th></tr></thead>
        <tbody>{rows.map((c: any) => { const name = c.description || c.client_name || c.client_id; return <tr key={c.client_id}><th scope="row"><a href={to(['oauth', c.client_id], { apiId: api })}>{name}</a><br /><code class="soft">{c.client_id}</code></th><td>{c.policy_id ? <Known at={rightsOf(c.policy_id)}>{c.policy_id}</Known> : <span class="soft">—</span>}</td><td><code>{c.redirect_uri || '—'}</code></td>
          <td><div class="bar">{may(tokens) && <button type="button" aria-label={`Tokens of ${name}`} onClick={() => hold(c)}>Tokens</button>}{may(rotate) && <button type="button" aria-label={`New secret of ${name}`} onClick={() => ask({ op: rotate, c, name })}>New secret…</button>}{may(remove) && <button type="button" class="danger" aria-label={`Delete ${name}`} onClick={() => ask({ op: remove, c, name })}>Delete…</button>}</div></td></tr>; })}</tbody></table></div>)}
      {data?.pages > 1 && <Pages page={Number(page)} total={data.pages} go={n => refine(route, { p: String(n) })} />}</>
      : choices.length > 0 && <p class="empty">Clients belong to one API: choose it.</p>}
    {making && <MakeClient api={api} close={() => make(false)} done={c => { make(false); setSecret(c); again(); }} />}
    {secret && <Once title="The secret of the client" what="The secret" secret={secret.secret} close={() => setSecret(undefined)}><p class="soft">Client ID: <code>{secret.client_id}</code></p></Once>}
    {asked && <Sure {...asked} api={api} close={() => ask(undefined)} done={(a: any) => { ask(undefined); if (asked.op === rotate) setSecret(a); else say('The client is deleted.'); again(); }} />}
    {held && <Tokens op={tokens!} api={api} of={held} close={() => hold(undefined)} />}
  </>;
}

function MakeClient({ api, close, done }: { api: string; close: () => void; done: (c: any) => void }) {
  const op = operations.get('oauth.create')!, [description, describe] = useState(''), [redirect, setRedirect] = useState(''), [chosen, choose] = useState<Map<string, string>>(new Map()), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false);
  const submit = async (e: any) => { e.preventDefault(); setBusy(true); setFault(undefined); try { done((await call(op, { apiId: api }, JSON.stringify({ description, redirect_uri: redirect, policy_id: [...chosen.keys()][0] ?? '' }))).data); } catch (e) { setFault(e as Problem); setBusy(false); } };
  return <Dialog title="Make an OAuth client" close={close}><form onSubmit={submit}>
    <div class="field"><label for="description">Description</label><input id="description" value={description} autoFocus autoComplete="off" onInput={(e: any) => describe(e.target.value)} /></div>
    <div class="field"><label for="redirect">Redirects to</label><input id="redirect" type="url" value={redirect} autoComplete="off" onInput={(e: any) => setRedirect(e.target.value)} /></div>
    <ChoosePolicies chosen={chosen} choose={choose} one />
    <Trouble p={fault} op={op} /><div class="actions"><button class="primary" disabled={busy || chosen.size === 0}>{busy ? 'Making it…' : 'Make it'}</button><button type="button" onClick={close}>Cancel</button></div></form></Dialog>;
}

function Sure({ op, c, name, api, close, done }: { op: Operation; c: any; name: string; api: string; close: () => void; done: (a: any) => void }) {
  const [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false), gone = op.method === 'DELETE';
  const run = async () => { setBusy(true); setFault(undefined); try { done((await call(op, { apiId: api, clientId: c.client_id })).data); } catch (e) { setFault(e as Problem); setBusy(false); } };
  return <Dialog title={gone ? `Delete ${name}?` : `Give ${name} another secret?`} close={close}><p>{gone ? 'Gateways issue no more tokens to it.' : 'The secret that it has stops working at once.'}</p><Trouble p={fault} op={op} /><div class="actions"><button type="button" class="danger" disabled={busy} onClick={run}>{gone ? 'Delete' : 'Make another secret'}</button><button type="button" autoFocus onClick={close}>{gone ? 'Keep it' : 'Cancel'}</button></div></Dialog>;
}

function Tokens({ op, api, of, close }: { op: Operation; api: string; of: any; close: () => void }) {
  const { data, fault, again } = useAnswer(op, { apiId: api, clientId: of.client_id }), revoke = operations.get('oauth.revoke'), rows = Array.isArray(data) ? data : [];
  return <Dialog title={`Tokens of ${of.description || of.client_id}`} close={close}><Trouble p={fault} op={op} retry={again} />{!data && !fault && <Loading what="tokens" />}
    {data && (rows.length === 0 ? <p>It holds no token.</p> : <ul>{rows.slice(0, 100).map((t: any) => <li key={t.code}><code>{t.code}</code> <span class="soft">until</span> <Time at={t.expires} /></li>)}</ul>)}
    {may(revoke) && rows.length > 0 && <p><a href={to(['run', revoke!.id], { clientId: of.client_id })}>Revoke one of them</a></p>}</Dialog>;
}
