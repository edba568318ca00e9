import { useEffect, useState } from 'preact/hooks';
import { Problem } from './http';
import { call, idOf, mappingsOf, may, operations, placeOf, resources, rowsOf } from './spec';
import { Route, refine, to } from './route';
import { Denied, Loading, Trouble, Value, amount } from './ui';

/** What policies give: rights per API, limits, what each part sets, and who carries it. */
export function PoliciesPage({ id, route }: { id?: string; route: Route }) {
  const r = resources.get('policies')!, list = r.operations.search ?? r.operations.list;
  if (!may(r.operations.list)) return <><h1>Policies</h1><Denied op={r.operations.list} /></>;
  return id ? <Rights id={id} /> : <Overview list={list} route={route} />;
}

function Overview({ list, route }: { list: any; route: Route }) {
  const r = resources.get('policies')!, q = route.query, [rows, set] = useState<any[]>(), [pages, setPages] = useState(1), [fault, setFault] = useState<Problem>(), [round, again] = useState(0), page = q.get('p') ?? '1';
  useEffect(() => {
    let gone = false;
    const t = setTimeout(() => { setFault(undefined); call(list, { p: page, q: q.get('q') ?? '', state: q.get('state') ?? '', api_id: q.get('api_id') ?? '' }).then(a => { if (!gone) { set(rowsOf(a.data, list)); setPages(Number(a.data?.Pages ?? 1)); } }, e => { if (!gone) setFault(e); }); }, rows ? 150 : 0);
    return () => { gone = true; clearTimeout(t); };
  }, [route.query.toString(), round]);
  return <><header class="page"><h1>Policies</h1><div class="bar">{may(r.operations.create) && <a class="button primary" href="#/policies/+new">New policy</a>}</div></header>
    <div class="tools"><input type="search" id="find" aria-label="Find a policy" placeholder="Find a policy…" value={q.get('q') ?? ''} onInput={(e: any) => refine(route, { q: e.target.value, p: undefined })} />
      <label>State <select value={q.get('state') ?? ''} onChange={(e: any) => refine(route, { state: e.target.value, p: undefined })}><option value="">any</option><option>active</option><option>draft</option><option>deny</option></select></label>
      <label>Gives access to <input value={q.get('api_id') ?? ''} placeholder="API ID" onInput={(e: any) => refine(route, { api_id: e.target.value, p: undefined })} /></label></div>
    <Trouble p={fault} op={list} retry={() => again(round + 1)} />{!rows && !fault && <Loading what="policies" />}
    {rows && (rows.length === 0 ? <p class="empty">There is no such policy.</p> : <div class="scroll" tabIndex={0} role="region" aria-label="Policies"><table><thead><tr><th scope="col">Policy</th><th scope="col">State</th><th scope="col">APIs</th><th scope="col">Rate</th><th scope="col">Quota</th><th scope="col">Sets</th></tr></thead>
      <tbody>{rows.map(p => <tr key={p._id}><th scope="row"><a href={to(['rights', idOf(p, r.facts)])}>{p.name}</a></th><td><State p={p} /></td><td>{Object.keys(p.access_rights ?? {}).length}</td><td>{amount(p.rate, p.per)}</td><td>{amount(p.quota_max, p.quota_renewal_rate)}</td><td><Parts p={p} /></td></tr>)}</tbody></table></div>)}
    {pages > 1 && <nav class="pages" aria-label="Pages"><button type="button" disabled={page === '1'} onClick={() => refine(route, { p: String(Number(page) - 1) })}>Before</button><span>Page {page} of {pages}</span><button type="button" disabled={Number(page) >= pages} onClick={() => refine(route, { p: String(Number(page) + 1) })}>Next</button></nav>}
  </>;
}

const State = ({ p }: { p: any }) => <span class={p.is_inactive || p.state !== 'active' ? 'badge bad' : 'badge yes'}>{p.is_inactive ? 'keys are refused' : p.state === 'draft' ? 'draft: keys are refused' : p.state === 'deny' ? 'kept from gateways' : p.state || 'active'}</span>;

/** Which parts of a key the policy sets. None is all of them. */
function Parts({ p }: { p: any }) {
  const set = Object.entries(p.partitions ?? {}).filter(([, on]) => on).map(([k]) => k);
  return <Value v={set.length ? set : ['everything']} />;
}

function Rights({ id }: { id: string }) {
  const r = resources.get('policies')!, read = r.operations.get, carriers = r.operations.keys, references = r.operations.references, all = operations.get('apis.list');
  const [p, set] = useState<any>(), [fault, setFault] = useState<Problem>(), [round, again] = useState(0), [there, setThere] = useState<Map<string, string>>(), [carried, setCarried] = useState<any>(), [lost, setLost] = useState<Problem>(), [named, setNamed] = useState<any[]>();
  useEffect(() => { setFault(undefined); call(read, { id }).then(a => set(a.data), setFault); }, [id, round]);
  useEffect(() => { if (all && may(all)) call(all, { p: all.list?.page?.everything ?? '0', compressed: '1' }).then(a => setThere(new Map(rowsOf(a.data, all).map(x => [x.api_definition?.api_id, x.api_definition?.name]))), () => { /* names only */ }); }, []);
  useEffect(() => { if (may(carriers)) call(carriers, { id }).then(a => setCarried(a.data), setLost); if (may(references)) call(references, { id }).then(a => setNamed(Array.isArray(a.data) ? a.data : []), () => setNamed(undefined)); }, [id]);
  return <><nav class="crumbs" aria-label="Where you are"><a href="#/rights">Policies</a></nav><header class="page"><h1>{p?.name ?? id}</h1><div class="bar"><a class="button" href={to(['policies', id])}>The record</a></div></header>
    <Trouble p={fault} op={read} retry={() => again(round + 1)} />{!p && !fault && <Loading what={id} />}
    {p && <><p><State p={p} /> <span class="soft">{p.rate || p.per || p.quota_max ? `${amount(p.rate, p.per, 'calls ')}, quota ${amount(p.quota_max, p.quota_renewal_rate)}` : 'no limits'}; sets</span> <Parts p={p} /></p>
      <h2>Rights per API</h2>{Object.keys(p.access_rights ?? {}).length === 0 ? <p class="soft">It gives access to no API.</p> : <div class="scroll" tabIndex={0} role="region" aria-label="Rights per API"><table><thead><tr><th scope="col">API</th><th scope="col">Versions</th><th scope="col">Paths</th><th scope="col">Limits of its own</th><th scope="col">Tools (MCP)</th></tr></thead>
        <tbody>{Object.entries<any>(p.access_rights).map(([api, a]) => { const at = placeOf('api', api); return <tr key={api}><th scope="row">{at ? <a href={at}>{there?.get(api) ?? a?.api_name ?? api}</a> : api}{there && !there.has(api) && <> <span class="badge bad">no such API</span></>}</th><td><Value v={a?.versions?.length ? a.versions : ['all']} /></td>
          <td>{a?.allowed_urls?.length ? <ul class="plain">{a.allowed_urls.map((u: any) => <li key={u.url}><code>{u.url}</code> <span class="soft">{(u.methods ?? []).join(', ')}</span></li>)}</ul> : <span class="soft">all</span>}</td>
          <td>{a?.limit ? `${amount(a.limit.rate, a.limit.per)}, quota ${amount(a.limit.quota_max, a.limit.quota_renewal_rate)}` : <span class="soft">those of the policy</span>}</td><td>{a?.mcp_primitives?.length ? <Value v={a.mcp_primitives.map((m: any) => `${m.type} ${m.name}`)} long /> : <span class="soft">all</span>}</td></tr>; })}</tbody></table></div>}
      <div class="panels"><section class="panel"><h2>Who carries it</h2>{!may(carriers) ? <p class="soft">To see keys you need the permission keys (read).</p> : <><Trouble p={lost} op={carriers} />{carried && (carried.count ? <><p>{carried.count} {carried.count === 1 ? 'key' : 'keys'}{carried.next && `, of the first ${carried.looked_at}`}.</p><ul class="plain">{(carried.keys ?? []).slice(0, 50).map((k: any, i: number) => <li key={i}><a href={to(['access', k.key_hash || k.key_id])}>{k.alias || k.key_hash || k.key_id}</a></li>)}</ul></> : <p class="soft">No key carries it.</p>)}</>}</section>
        <section class="panel"><h2>Who names it</h2>{named && (named.length ? <ul class="plain">{named.slice(0, 100).map((x, i) => { const at = mappingsOf(x.kind, x.id); return <li key={i}>{x.kind} {at ? <a href={at}>{x.name || x.id}</a> : x.name || x.id} <span class="soft">at {x.where}</span></li>; })}</ul> : <p class="soft">Nothing.</p>)}</section></div></>}
  </>;
}
