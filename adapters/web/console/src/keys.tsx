import { useEffect, useState } from 'preact/hooks';
import { Problem } from './http';
import { Operation, call, may, operations, placeOf, rightsOf, rowsOf } from './spec';
import { Route, refine, to } from './route';
import { Pages } from './shown';
import { Denied, Dialog, Known, Loading, Once, Time, Trouble, Value, say, useAnswer, amount } from './ui';

const never = 0;
const nameOf = (k: any) => k.key_hash || k.key_id;
/** Lists name keys by hash or, where gateways do not hash, by themselves: the server tries both. */
const at = (id: string) => ({ keyId: id, auto_guess: 'true' });

/** Keys of gateways: what each may do in the end, and those that are refused. */
export function KeysPage({ id, route }: { id?: string; route: Route }) {
  const list = operations.get('keys.detailed')!;
  if (!may(list)) return <><h1>Keys</h1><Denied op={list} /></>;
  return id ? <Effective key={id} id={id} /> : <Overview list={list} route={route} />;
}

const Expiry = ({ at }: { at: number }) => !at || at === -1 ? <span class="soft">never</span> : <>{at * 1000 < Date.now() && <><span class="badge bad">expired</span> </>}<Time at={at} /></>;
const lacks = (o: Operation | undefined) => !o || !may(o);

function Overview({ list, route }: { list: Operation; route: Route }) {
  const q = route.query, page = q.get('p') ?? '1', create = operations.get('keys.create'), doctor = operations.get('doctor.keys');
  const keys = useAnswer(list, { p: page, q: q.get('q') ?? '', policy_id: q.get('policy_id') ?? '' }), refused = useAnswer(lacks(doctor) ? undefined : doctor, {});
  const [making, make] = useState(false), [made, setMade] = useState<string>(), rows = rowsOf(keys.data, list), sick: any[] = refused.data?.keys ?? [];
  return <><header class="page"><h1>Rights of keys</h1><div class="bar">{may(create) && <button type="button" class="primary" onClick={() => make(true)}>Make a key…</button>}</div></header>
    <div class="tools"><input type="search" id="find" aria-label="Find a key" placeholder="Find by name or hash…" value={q.get('q') ?? ''} onInput={(e: any) => refine(route, { q: e.target.value, p: undefined })} />
      <label>With the policy <input value={q.get('policy_id') ?? ''} placeholder="policy ID" onInput={(e: any) => refine(route, { policy_id: e.target.value, p: undefined })} /></label></div>
    <Trouble p={keys.fault} op={list} retry={keys.again} />{!keys.data && !keys.fault && <Loading what="keys" />}
    {keys.data && (rows.length === 0 ? <p class="empty">There is no such key.</p> : <div class="scroll" tabIndex={0} role="region" aria-label="Keys"><table><thead><tr><th scope="col">Key</th><th scope="col">Policies</th><th scope="col">APIs</th><th scope="col">Rate</th><th scope="col">Expires</th></tr></thead>
      <tbody>{rows.map((k: any) => <tr key={nameOf(k)}><th scope="row"><a href={to(['access', nameOf(k)])}>{k.data?.alias || <code>{nameOf(k)}</code>}</a>{k.data?.is_inactive && <> <span class="badge bad">inactive</span></>}</th><td><Value v={k.data?.apply_policies ?? []} /></td><td><Value v={Object.entries<any>(k.data?.access_rights ?? {}).map(([a, r]) => r?.api_name || a)} /></td><td>{k.data?.rate ? amount(k.data.rate, k.data.per) : <span class="soft">—</span>}</td><td><Expiry at={k.data?.expires ?? never} /></td></tr>)}</tbody></table></div>)}
    {keys.data?.pages > 1 && <Pages page={Number(page)} total={keys.data.pages} go={n => refine(route, { p: String(n) })} />}
    {!lacks(doctor) && <section class="panel"><h2>Refused because of their policies</h2><Trouble p={refused.fault} op={doctor} retry={refused.again} />{!refused.data && !refused.fault && <Loading what="what is wrong" />}
      {refused.data && (sick.length === 0 ? <p class="soft">None of the {refused.data.looked_at} keys that were looked at.</p> : <ul class="plain">{sick.map(k => <li key={k.key_hash}><a href={to(['access', k.key_hash])}>{k.alias || k.key_hash}</a><Problems of={k.problems} /></li>)}</ul>)}
      {refused.data?.next && <p class="soft">There are more keys than the {refused.data.looked_at} that were looked at: <a href={to(['run', 'doctor.keys'], { after: refused.data.next })}>go on from there</a>.</p>}</section>}
    {making && <MakeKey close={() => make(false)} done={key => { make(false); setMade(key); keys.again(); refused.again(); }} />}
    {made && <Once title="The key is made" what="The key" secret={made} close={() => setMade(undefined)} />}
  </>;
}

const Problems = ({ of }: { of: any[] }) => <ul>{of.map((p, i) => { const policy = p.policy && placeOf('policy', p.policy); return <li key={i}>{p.text}. <span class="soft">What to do: {p.fix}.</span>{policy && p.code !== 'policy_missing' && <> <a href={policy}>The policy</a></>}</li>; })}</ul>;

/** A key out of policies. Anything else a key may have is in the form of the record. */
function MakeKey({ close, done }: { close: () => void; done: (key: string) => void }) {
  const op = operations.get('keys.create')!, [alias, name] = useState(''), [until, setUntil] = useState(''), [chosen, choose] = useState<Map<string, string>>(new Map()), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false);
  const submit = async (e: any) => {
    e.preventDefault(); setBusy(true); setFault(undefined);
    const expires = until ? Math.floor(+new Date(until) / 1000) : never;
    try { done((await call(op, {}, JSON.stringify({ alias, apply_policies: [...chosen.keys()], ...(expires ? { expires } : {}) }))).data.key_id); } catch (e) { setFault(e as Problem); setBusy(false); }
  };
  return <Dialog title="Make a key" close={close}><form onSubmit={submit}>
    <div class="field"><label for="alias">Name</label><input id="alias" value={alias} autoFocus autoComplete="off" aria-describedby="alias-help" onInput={(e: any) => name(e.target.value)} /><p class="help" id="alias-help">By it people find the key again. It is no secret.</p></div>
    <ChoosePolicies chosen={chosen} choose={choose} />
    <div class="field"><label for="until">Expires</label><input id="until" type="datetime-local" value={until} aria-describedby="until-help" onInput={(e: any) => setUntil(e.target.value)} /><p class="help" id="until-help">In the time zone of this browser. Empty: never.</p></div>
    <Trouble p={fault} op={op} />
    <div class="actions"><button class="primary" disabled={busy || chosen.size === 0}>{busy ? 'Making it…' : 'Make it'}</button><button type="button" onClick={close}>Cancel</button><a href="#/keys/+new" onClick={close}>Rights of its own: the whole form</a></div></form></Dialog>;
}

/** Policies by name. The server searches; what is chosen stays, whatever is searched for. */
export function ChoosePolicies({ chosen, choose, one }: { chosen: Map<string, string>; choose: (m: Map<string, string>) => void; one?: boolean }) {
  const list = operations.get('policies.search') ?? operations.get('policies.list')!, [find, set] = useState(''), found = useAnswer(lacks(list) ? undefined : list, { q: find, p: '1', state: 'active' });
  const rows: [string, string][] = rowsOf(found.data, list).map((p: any) => [p.id || p._id, p.name]), shown = new Map([...chosen, ...rows.slice(0, 12)]);
  const flip = (id: string, name: string) => { const m = new Map(one ? [] : chosen); if (chosen.has(id)) m.delete(id); else m.set(id, name); choose(m); };
  return <fieldset class="choices"><legend>{one ? 'Policy' : 'Policies'}</legend>{lacks(list) ? <p class="soft">To choose one you need the permission policies (read).</p> : <>
    <input type="search" aria-label="Find a policy" placeholder="Find a policy…" value={find} onInput={(e: any) => set(e.target.value)} onKeyDown={e => { if (e.key === 'Enter') e.preventDefault(); }} />
    <Trouble p={found.fault} op={list} retry={found.again} />
    {[...shown].map(([id, name]) => <label class="check" key={id}><input type={one ? 'radio' : 'checkbox'} checked={chosen.has(id)} onChange={() => flip(id, name)} /> {name}</label>)}
    {found.data && shown.size === 0 && <p class="soft">No active policy is called so.</p>}</>}</fieldset>;
}

const parts: [string, string][] = [['acl', 'rights'], ['rate_limit', 'rate'], ['quota', 'quota'], ['complexity', 'depth']];

/** What a key may do once its policies are applied, and which of them says so. */
function Effective({ id }: { id: string }) {
  const op = operations.get('keys.effective')!, remove = operations.get('keys.delete'), { data: k, fault, again } = useAnswer(op, at(id)), [asked, ask] = useState(false);
  const limit = (l: any) => l && (l.rate || l.quota_max) ? `${amount(l.rate, l.per, l.rate === 1 ? 'call ' : 'calls ')}${l.quota_max ? `, quota ${amount(l.quota_max, l.quota_renewal_rate)}` : ''}` : 'no limit';
  const named = (p: string) => k.policies.find((x: any) => x.id === p)?.name ?? p;
  return <><nav class="crumbs" aria-label="Where you are"><a href="#/access">Keys</a></nav><header class="page"><h1>What this key may do</h1><div class="bar"><a class="button" href={to(['keys', id], { auto_guess: 'true' })}>The record</a>{operations.get('activity.key') && may(operations.get('activity.key')) && <a class="button" href={to(['analytics'], { key: id })}>Its traffic</a>}{may(remove) && <button type="button" class="danger" onClick={() => ask(true)}>Delete…</button>}</div></header>
    <p class="soft"><code>{id}</code></p>
    <Trouble p={fault} op={op} retry={again} />{!k && !fault && <Loading what="the rights" />}
    {k && <><p><span class={k.accepted ? 'badge yes' : 'badge bad'}>{k.accepted ? 'gateways accept it' : 'gateways refuse it'}</span> <span class="soft">Expires:</span> <Expiry at={k.expires} /> <span class="soft">· {limit(k.limit)}</span></p>
      {k.problems.length > 0 && <section class="panel"><h2>What is wrong</h2><Problems of={k.problems} /></section>}
      <h2>Policies</h2>{k.policies.length === 0 ? <p class="soft">None: its rights are its own.</p> : <ul class="plain">{k.policies.map((p: any) => <li key={p.id}><Known at={rightsOf(p.id)}>{p.name || p.id}</Known> <span class={p.state === 'active' ? 'badge yes' : 'badge bad'}>{p.state || 'missing'}</span> <span class="soft">sets {p.partitions?.length ? p.partitions.join(', ') : 'everything'}</span></li>)}</ul>}
      <h2>APIs</h2>{k.apis.length === 0 ? <p class="soft">None.</p> : <div class="scroll" tabIndex={0} role="region" aria-label="What it may do on each API"><table><thead><tr><th scope="col">API</th><th scope="col">Versions</th><th scope="col">Paths</th><th scope="col">Limit</th><th scope="col">Counted</th><th scope="col">Who says so</th></tr></thead>
        <tbody>{k.apis.map((a: any) => { const place = a.exists && placeOf('api', a.api_id); return <tr key={a.api_id}><th scope="row">{place ? <a href={place}>{a.rights?.api_name || a.api_id}</a> : a.rights?.api_name || a.api_id}{!a.exists && <> <span class="badge bad">no such API</span></>}</th><td><Value v={a.rights?.versions?.length ? a.rights.versions : ['all']} /></td>
          <td>{a.rights?.allowed_urls?.length ? <ul class="plain">{a.rights.allowed_urls.map((u: any) => <li key={u.url}><code>{u.url}</code> <span class="soft">{(u.methods ?? []).join(', ')}</span></li>)}</ul> : <span class="soft">all</span>}</td><td>{limit(a.limit)}</td><td>{a.counted === 'api' ? 'by itself' : 'with the key'}</td>
          <td><ul class="plain">{parts.filter(([p]) => p === 'acl' || a.set_by?.[p]).map(([p, word]) => <li key={p}><span class="soft">{word}:</span> {(a.set_by?.[p] ?? []).map(named).join(', ') || 'the key'}</li>)}</ul></td></tr>; })}</tbody></table></div>}</>}
    {asked && <DeleteKey id={id} close={() => ask(false)} />}
  </>;
}

function DeleteKey({ id, close }: { id: string; close: () => void }) {
  const op = operations.get('keys.delete')!, [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false);
  const remove = async () => { setBusy(true); setFault(undefined); try { await call(op, at(id)); close(); say('The key is deleted.'); location.hash = '#/access'; } catch (e) { setFault(e as Problem); setBusy(false); } };
  return <Dialog title="Delete this key?" close={close}><p>Gateways refuse it at once. It cannot be brought back.</p><Trouble p={fault} op={op} /><div class="actions"><button type="button" class="danger" disabled={busy} onClick={remove}>Delete</button><button type="button" autoFocus onClick={close}>Keep it</button></div></Dialog>;
}
