import { useState } from 'preact/hooks';
import { Problem } from './http';
import { Resource, call, mappingsOf, may, operations } from './spec';
import { go, to } from './route';
import { Dialog, Loading, Trouble, Value, label, say, useAnswer } from './ui';

/** What an API is beside its document: which versions it has, and who names it. */
export function Surroundings({ r, id, data }: { r: Resource; id: string; data: any }) {
  const oas = r.name === 'apis.oas', ask = (name: string) => { const op = operations.get(name); return op && may(op) ? op : undefined; };
  const versions = ask('apis.oas.versions'), references = ask('apis.references'), rebase = ask('apis.oas.rebase') ?? [...operations.values()].find(o => o.path.includes('/rebase/') && may(o));
  const table = data?.['x-tyk-api-gateway']?.info?.versioning ?? data?.api_definition?.version_definition;
  const all = useAnswer(oas && table?.enabled && table?.versions?.length ? versions : undefined, { apiId: id }), named = useAnswer(r.name === 'apis' ? undefined : references, { apiId: id });
  const [next, choose] = useState<any>();
  const list: any[] = all.data?.apis ?? [];
  return <div class="panels">
    <Places r={r} id={id} data={data} />
    {oas && table?.enabled && table?.versions?.length > 0 && versions && <section class="panel"><h2>Versions</h2><Trouble p={all.fault} op={versions} retry={all.again} />{!all.data && !all.fault && <Loading what="versions" />}
      {all.data && <ul class="plain">{list.map(v => <li key={v.id}><a href={to(['apis.oas', v.id])}>{v.versionName}</a> <span class="soft">{v.name}</span> {v.isDefaultVersion && <span class="badge yes">default</span>} {v.internal && <span class="badge">internal</span>} {rebase && <button type="button" class="link" aria-label={`Make it the base: ${v.versionName}`} onClick={() => choose(v)}>Make it the base…</button>}</li>)}</ul>}</section>}
    {r.name !== 'apis' && references && <section class="panel"><h2>Used by</h2><Trouble p={named.fault} op={references} retry={named.again} />{!named.data && !named.fault && <Loading what="who names it" />}
      {named.data && (named.data.length === 0 ? <p class="soft">Nothing refers to this.</p> : <ul class="plain">{named.data.slice(0, 100).map((x: any, i: number) => { const at = mappingsOf(x.kind, x.id); return <li key={i}>{x.kind} {at ? <a href={at}>{x.name || x.id}</a> : <strong>{x.name || x.id}</strong>} <span class="soft">at {x.where}</span></li>; })}</ul>)}</section>}
    {/^apis\.(oas|streams)$/.test(r.name) && ask('apis.get') && <section class="panel"><h2>The other form</h2><p>Gateways execute <a href={to(['apis', id])}>the classic definition</a> that is made of this document.</p></section>}
    {next && <Rebase op={rebase!} id={id} of={next} close={() => choose(undefined)} />}
  </div>;
}

const verbs = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'], most = 300;

/** What the API offers, and what gateways do there besides passing calls on. */
export function Endpoints({ data }: { data: any }) {
  const [find, set] = useState(''), x = data?.['x-tyk-api-gateway'], by = x?.middleware?.operations ?? {};
  const on = (of: any) => Object.entries<any>(of ?? {}).filter(([, v]) => v !== null && typeof v === 'object' && v.enabled !== false).map(([k]) => label(k));
  const all = Object.entries<any>(data?.paths ?? {}).flatMap(([path, item]) => verbs.filter(v => item?.[v]).map(v => ({ path, verb: v.toUpperCase(), what: item[v].summary ?? item[v].operationId ?? '', does: on(by[item[v].operationId]) })));
  const shown = all.filter(e => (e.verb + ' ' + e.path + ' ' + e.what + ' ' + e.does.join(' ')).toLowerCase().includes(find.toLowerCase())), everywhere = on(x?.middleware?.global);
  if (!all.length) return null;
  return <section class="read"><h2>Endpoints</h2>{everywhere.length > 0 && <p class="soft">Everywhere: {everywhere.join(', ')}.</p>}
    {all.length > 10 && <div class="tools"><input type="search" aria-label="Find an endpoint" placeholder="Find an endpoint…" value={find} onInput={(e: any) => set(e.target.value)} /></div>}
    <div class="scroll" tabIndex={0} role="region" aria-label="Endpoints"><table><thead><tr><th scope="col">Endpoint</th><th scope="col">What it is</th><th scope="col">Middleware</th></tr></thead>
      <tbody>{shown.slice(0, most).map(e => <tr key={e.verb + e.path}><th scope="row"><code>{e.verb} {e.path}</code></th><td><Value v={e.what} /></td><td><Value v={e.does} long /></td></tr>)}</tbody></table></div>
    {shown.length > most && <p class="soft">{shown.length - most} more: find what you look for.</p>}</section>;
}

/** Where clients reach the API, and which of the live gateways serve it as it is now. */
function Places({ r, id, data }: { r: Resource; id: string; data: any }) {
  const allowed = (name: string) => { const op = operations.get(name); return op && may(op) ? op : undefined; };
  const places = r.name === 'apis.oas' ? allowed('apis.oas.urls') : allowed('apis.url'), nodes = allowed('system.nodes.list');
  const at = useAnswer(places, { apiId: id }), live = useAnswer(nodes, {});
  const gateway = data?.['x-tyk-api-gateway'], old = data?.api_definition, active = gateway ? gateway.info?.state?.active : old?.active, path = gateway?.server?.listenPath?.value ?? old?.proxy?.listen_path;
  const only = gateway ? gateway.server?.gatewayTags : old, tags: string[] = gateway ? only?.enabled !== false && only?.tags || [] : !old?.tags_disabled && old?.tags || [];
  const addresses = (at.data?.urls?.map((u: any) => u.url) ?? [at.data?.ApiURL]).filter((u?: string) => u?.includes('://')) as string[], all: any[] = live.data?.nodes ?? [];
  if (!places) return null;
  return <section class="panel"><h2>Where it is reached</h2><Trouble p={at.fault} op={places} retry={at.again} />{!at.data && !at.fault && <Loading what="addresses" />}
    {active === false && <p><span class="badge bad">inactive</span> <span class="soft">No gateway serves it.</span></p>}
    {at.data && (addresses.length ? <ul class="plain">{addresses.map(u => <li key={u}><code>{u}</code></li>)}</ul> : <p class="soft">No address is known: the host of such gateways is not set (host_config.override_hostname, edge_endpoints), or the path is a reference.</p>)}
    {tags.length > 0 && <p>Only gateways with {tags.length === 1 ? 'the tag' : 'one of the tags'} <strong>{tags.join(', ')}</strong> load it.</p>}
    <Trouble p={live.fault} op={nodes} retry={live.again} />
    {live.data && <><h3>At each live gateway</h3>{all.length === 0 ? <p class="soft">No gateway is connected.</p> : <ul class="plain">{all.slice(0, 50).map(n => { const f = n.feeds?.find((f: any) => f.name === 'apis'); return <li key={n.node_id}><code>{n.hostname || n.node_id}{path}</code> <span class={f?.fetched && !f.behind ? 'badge yes' : 'badge bad'}>{!f?.fetched ? 'has loaded no APIs' : f.behind ? 'has not loaded the last change of APIs' : 'up to date'}</span></li>; })}{all.length > 50 && <li class="soft">and {all.length - 50} more</li>}</ul>}</>}
  </section>;
}

function Rebase({ op, id, of, close }: { op: any; id: string; of: any; close: () => void }) {
  const [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true); setFault(undefined);
    try { await call(op, { apiId: id, 'next-base-apiId': of.id }); close(); say(`${of.versionName} is the base now.`); go(to(['apis.oas', of.id])); } catch (e) { setFault(e as Problem); setBusy(false); }
  };
  return <Dialog title={`Make ${of.versionName} the base?`} close={close}><p>It takes over the table of versions; what is the base now becomes one of them under its own name. The default stays, and gateways reload once.{of.internal && ' It is internal now and becomes reachable.'}</p><Trouble p={fault} op={op} /><div class="actions"><button type="button" class="primary" autoFocus disabled={busy} onClick={run}>{busy ? 'Changing…' : 'Make it the base'}</button><button type="button" onClick={close}>Cancel</button></div></Dialog>;
}
