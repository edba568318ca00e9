import { useEffect, useMemo, useState } from 'preact/hooks';
import { put } from './doc';
import { Problem } from './http';
import { Operation, call, idParam, may, nameOf, needs, operations, resources, rowsOf, whoami } from './spec';
import { Route, guard, refine, to } from './route';
import { Denied, Dialog, Loading, Time, Trouble, say } from './ui';

const sorts = [['users', 'Users'], ['usergroups', 'Groups of users'], ['service-accounts', 'Service accounts']] as const;
const levels = ['deny', 'read', 'write'];

/** Every group of permissions that some operation needs, by what the description says. */
const groups = () => [...new Set([...operations.values()].flatMap(o => o.group && o.group !== 'IsAdmin' ? [o.group] : []))].sort();

/** Who may do what: a row for each user, group or account, a column for each permission. */
export function PeoplePage({ route }: { route: Route }) {
  const which = sorts.find(([n]) => n === route.query.get('of')) ?? sorts[0], r = resources.get(which[0])!, list = r.operations.list, read = r.operations.get, write = r.operations.replace, editable = may(write);
  const [rows, setRows] = useState<any[]>(), [fault, setFault] = useState<Problem>(), [round, again] = useState(0), [changes, change] = useState<Record<string, Record<string, string>>>({}), [busy, setBusy] = useState(false), [asked, ask] = useState<any>(), [seen, see] = useState<any>();
  const columns = useMemo(groups, []), find = (route.query.get('q') ?? '').toLowerCase(), dirty = Object.keys(changes).length > 0;
  useEffect(() => { guard(() => dirty); return () => guard(undefined); }, [dirty]);
  useEffect(() => {
    setRows(undefined); setFault(undefined); change({});
    if (may(list)) call(list, { p: list.list?.page?.everything ?? '0' }).then(a => setRows(rowsOf(a.data, list)), setFault);
  }, [which[0], round]);
  const save = async () => {
    setBusy(true); setFault(undefined);
    const left = { ...changes };
    try {
      for (const [id, cells] of Object.entries(changes)) {
        const at = { [idParam(read)!]: id }, a = await call(read, at);
        let text = a.text;
        for (const [group, level] of Object.entries(cells)) text = put(text, ['user_permissions', group], level ? JSON.stringify(level) : undefined);
        await call(write, { ...at, 'If-Match': a.etag ?? '' }, text);
        delete left[id];
      }
      say('The permissions are stored. They count from the next call on.');
      again(round + 1);
    } catch (e) { setFault(e as Problem); change(left); }
    setBusy(false);
  };
  const shown = (rows ?? []).filter(x => nameOf(x, r.facts).toLowerCase().includes(find)), level = (x: any, g: string) => changes[x.id]?.[g] ?? x.user_permissions?.[g] ?? '';
  return <><header class="page"><h1>People{dirty && <span class="badge"> unsaved</span>}</h1><div class="bar">{may(r.operations.create) && <a class="button primary" href={to([r.name, '+new'])}>{r.operations.create.summary}</a>}</div></header>
    <p class="soft">Which permissions each of them has by its own map. What groups give takes the place of the own map of their members: “What may …” says what counts in the end.</p>
    <div class="tools"><div class="views" role="group" aria-label="Of whom">{sorts.map(([n, title]) => <button key={n} type="button" aria-pressed={n === which[0]} onClick={() => refine(route, { of: n, q: undefined })}>{title}</button>)}</div>
      <input type="search" id="find" aria-label={`Find in ${which[1]}`} placeholder="Find…" value={route.query.get('q') ?? ''} onInput={(e: any) => refine(route, { q: e.target.value })} /></div>
    {!may(list) ? <Denied op={list} /> : <><Trouble p={fault} op={rows ? write : list} retry={rows ? undefined : () => again(round + 1)} />{!rows && !fault && <Loading what={which[1]} />}</>}
    {rows && (shown.length === 0 ? <p class="empty">There is nothing like that.</p> : <div class="scroll" tabIndex={0} role="region" aria-label={`Permissions of ${which[1]}`}><table class="matrix"><thead><tr><th scope="col">Name</th><th scope="col">Admin</th>{columns.map(g => <th key={g} scope="col"><code>{g}</code></th>)}</tr></thead>
      <tbody>{shown.slice(0, 200).map(x => { const name = nameOf(x, r.facts), admin = level(x, 'IsAdmin') === 'admin' || level(x, 'IsAdmin') === 'true'; return <tr key={x.id}><th scope="row"><a href={to([r.name, x.id])}>{name}</a>{x.active === false && <span class="badge"> inactive</span>}{operations.get(r.name + '.permissions') && <><br /><button type="button" class="link" onClick={() => ask(x)}>What may {x.id === whoami()?.id ? 'I' : name} do?</button></>}{r.name === 'users' && operations.get('users.sessions') && <><br /><button type="button" class="link" onClick={() => see(x)} aria-label={`Sessions of ${name}`}>Sessions</button></>}</th>
        <td>{admin ? <span class="badge yes">yes</span> : <span class="soft">no</span>}</td>{columns.map(g => <td key={g}>{admin ? <span class="soft">all</span> : editable ? <select aria-label={`${g} of ${name}`} class={changes[x.id]?.[g] !== undefined ? 'new' : ''} value={level(x, g)} onChange={(e: any) => change({ ...changes, [x.id]: { ...changes[x.id], [g]: e.target.value } })}><option value="">—</option>{levels.map(l => <option key={l}>{l}</option>)}</select> : level(x, g) || <span class="soft">—</span>}</td>)}</tr>; })}</tbody></table></div>)}
    {rows && shown.length > 200 && <p class="soft">{shown.length - 200} more: find who you look for.</p>}
    {editable ? <div class="actions sticky"><button type="button" class="primary" disabled={!dirty || busy} onClick={save}>{busy ? 'Saving…' : 'Save'}</button><button type="button" disabled={!dirty} onClick={() => change({})}>Discard changes</button></div> : write && <p class="soft">To change them you need {needs(write)}.</p>}
    {asked && <Explanation of={asked} name={nameOf(asked, r.facts)} kind={r.name} close={() => ask(undefined)} />}
    {seen && <Dialog title={`Sessions of ${nameOf(seen, r.facts)}`} close={() => see(undefined)} wide><Sessions id={seen.id} /></Dialog>}
  </>;
}

/** Where somebody is signed in, and how to end that. */
export function Sessions({ id }: { id: string }) {
  const list = operations.get('users.sessions')!, all = operations.get('users.sessions.end_all')!, one = operations.get('users.sessions.end')!, at = { [idParam(list)!]: id }, me = whoami()?.id === id;
  const [rows, set] = useState<any[]>(), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false), [round, again] = useState(0);
  useEffect(() => { setFault(undefined); if (may(list, id)) call(list, at).then(a => set(rowsOf(a.data, list)), setFault); }, [id, round]);
  if (!may(list, id)) return <Denied op={list} />;
  const end = async (op: Operation, values: Record<string, string>) => { setBusy(true); try { const a = await call(op, { ...at, ...values }); say(a.data?.Meta?.sessions === 1 ? 'One session has ended.' : `${a.data?.Meta?.sessions} sessions have ended.`); again(round + 1); } catch (e) { setFault(e as Problem); } setBusy(false); };
  const others = rows?.filter(x => !x.current).length ?? 0;
  return <><Trouble p={fault} op={rows ? one : list} retry={rows ? undefined : () => again(round + 1)} />{!rows && !fault && <Loading what="sessions" />}
    {rows?.length === 0 && <p class="soft">Not signed in with any browser. Access keys are no sessions.</p>}
    {rows && rows.length > 0 && <><div class="scroll" tabIndex={0} role="region" aria-label="Sessions"><table><thead><tr><th scope="col">Browser</th><th scope="col">Address</th><th scope="col">Signed in</th><th scope="col">Last use</th><th scope="col">Ends</th><th scope="col"><span class="hidden">End it</span></th></tr></thead>
      <tbody>{rows.map(x => <tr key={x.id}><th scope="row"><span title={x.user_agent}>{named(x.user_agent)}</span>{x.current && <span class="badge yes"> this one</span>}{x.sso && <span class="badge"> single sign-on</span>}</th><td><code>{x.address || '—'}</code></td><td><Time at={x.created_at} /></td><td><Time at={x.last_used} /></td><td><Time at={x.expires_at} /></td>
        <td>{may(one, id) && !x.current && <button type="button" disabled={busy} onClick={() => end(one, { sessionId: x.id })} aria-label={`End the session of ${named(x.user_agent)}, ${x.address}`}>End</button>}</td></tr>)}</tbody></table></div>
      {may(all, id) && others > 0 && <div class="actions"><button type="button" class="danger" disabled={busy} onClick={() => end(all, me ? { others: 'true' } : {})}>{me ? 'End all others' : 'End all'}</button></div>}</>}
  </>;
}

/** A browser by its name and system, as people know them. */
export function named(agent: string): string {
  if (!agent) return 'unknown browser';
  const of = (list: [RegExp, string][]) => list.find(([r]) => r.test(agent))?.[1];
  const browser = of([[/Edg\//, 'Edge'], [/OPR\//, 'Opera'], [/Firefox\//, 'Firefox'], [/Chrome\/|Chromium\//, 'Chrome'], [/Safari\//, 'Safari']]), system = of([[/Android/, 'Android'], [/iPhone|iPad/, 'iOS'], [/Windows/, 'Windows'], [/Mac OS X/, 'macOS'], [/CrOS/, 'ChromeOS'], [/Linux|X11/, 'Linux']]);
  return browser ? browser + (system ? ' on ' + system : '') : agent.slice(0, 60);
}

/** What somebody may do in the end, and what gives it. */
function Explanation({ of, name, kind, close }: { of: any; name: string; kind: string; close: () => void }) {
  const op = operations.get(kind + '.permissions')!, [data, set] = useState<any>(), [fault, setFault] = useState<Problem>();
  useEffect(() => { call(op, { [idParam(op)!]: of.id }).then(a => set(a.data), setFault); }, [of.id]);
  return <Dialog title={`What ${name} may do`} close={close} wide><Trouble p={fault} op={op} />{!data && !fault && <Loading what="permissions" />}
    {data && <>{!data.active && <p class="wrong">Inactive: nothing at all.</p>}{data.admin && <p>An admin: everything.</p>}{data.rules_decide && <p class="soft">Rules of the organisation decide in place of these permissions, which they see.</p>}
      <table><thead><tr><th scope="col">Permission</th><th scope="col">Level</th><th scope="col">From</th></tr></thead><tbody>{(data.permissions ?? []).map((p: any) => <tr key={p.permission}><th scope="row"><code>{p.permission}</code></th><td><span class={p.may_write ? 'badge yes' : 'badge'}>{p.level}</span></td><td>{(p.from ?? []).map((f: any) => f.name || f.source).join(', ') || <span class="soft">{p.reason}</span>}</td></tr>)}</tbody></table>
      <h3>Where it comes from</h3><ul>{(data.sources ?? []).map((s: any, i: number) => <li key={i} class={s.counts ? '' : 'soft'}>{s.source} {s.name || s.id}{s.note && `: ${s.note}`}</li>)}</ul></>}
  </Dialog>;
}
