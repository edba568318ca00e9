import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { curl, listen, Problem } from './http';
import { Operation, Parameter, Resource, ask, call, flat, has, homeOf, idOf, itemSchema, listOf, may, nameOf, needs, pageOf, pagesOf, pathParams, resolve, rowsOf } from './spec';
import { Route, refine, to } from './route';
import { Pages, Shown } from './shown';
import { Dialog, Loading, Time, Trouble, Value, copy, download, isTime, label, midway, zoneName } from './ui';

const reserved = new Set(['p', 'q', 'sort', 'compressed', 'download', 'type']), plain = ['string', 'integer', 'number', 'boolean'];
const preferred = ['name', 'title', 'email_address', 'client_name', 'alias', 'action', 'user', 'timestamp', 'date', 'status', 'method', 'path', 'response_code', 'request_time', 'client_idp_id', 'api_id', 'id', 'active', 'state', 'issuer', 'tags', 'proxy.listen_path', 'url', 'rate', 'per'];
const boring = new Set(['openapi', 'org_id', '_id', 'api_model', 'sort_by', 'is_site', 'access_key', 'hash', 'prev', 'seq', 'req_id', 'on_behalf_of', 'webhook_id', 'auth_type', 'last_updated', 'password_max_days', 'event_timeout', 'template_path']);

const at = (row: any, column: string) => column.split('.').reduce((v, k) => v?.[k], row);

/** The columns that matter: what names a row, then what else is plain. */
export function columnsOf(list: Operation, rows: any[]): string[] {
  const schema = itemSchema(list)?.properties ?? {}, all = new Set<string>();
  for (const [k, s] of Object.entries<any>(schema)) { const r = resolve(s), t = Array.isArray(r?.type) ? r.type.find((x: string) => x !== 'null') : r?.type; if (plain.includes(t) || t === 'array' && resolve(r.items)?.type === 'string') all.add(k); }
  if (rows[0]?.proxy?.listen_path) all.add('proxy.listen_path');
  for (const r of rows.slice(0, 20)) for (const [k, v] of Object.entries(r)) if (v !== null && (typeof v !== 'object' || Array.isArray(v) && v.length && typeof v[0] === 'string')) all.add(k);
  const useful = [...all].filter(k => !boring.has(k) && (k !== 'id' || !all.has('api_id') && !all.has('client_idp_id')) && (k !== 'timestamp' || !all.has('date')) && (rows.length === 0 || rows.some(r => { const v = at(r, k); return v !== undefined && v !== null && v !== '' && !(Array.isArray(v) && !v.length); })));
  return [...preferred.filter(k => useful.includes(k)), ...useful.filter(k => !preferred.includes(k))].slice(0, 6);
}

/** The columns that the server sorts by, with the values for up and down. */
function sortsOf(list: Operation): Record<string, { up?: string; down?: string }> {
  const out: Record<string, { up?: string; down?: string }> = {};
  for (const v of list.list?.sort?.values ?? []) { if (!v.member) continue; const of = out[v.member.replace(/^api_definition\./, '')] ??= {}; of[v.descending ? 'down' : 'up'] = v.value; }
  return out;
}

export function ListPage({ r, route }: { r: Resource; route: Route }) {
  const list = listOf(r)!, q = route.query, parents = pathParams(list), missing = parents.filter(p => !q.get(p.name));
  const [data, setData] = useState<any>(), [fault, setFault] = useState<Problem>(), [again, setAgain] = useState(0), [busy, setBusy] = useState(false), [filters, setFilters] = useState(false), [hour] = useState(() => Math.ceil(Date.now() / 3_600_000) * 3600);
  const serverFind = has(list, 'q'), serverSort = !!list.list?.sort, find = q.get('q') ?? '', sort = q.get('sort') ?? '';
  const paging = pageOf(list), pages = !!paging, whole = pages && (find !== '' && !serverFind || sort !== '' && !serverSort);
  const own = list.parameters.filter(p => p.in === 'query' && !reserved.has(p.name));
  const values: Record<string, string> = {};
  for (const p of [...parents, ...own]) values[p.name] = q.get(p.name) ?? (p.required ? usual(list, p, hour) : '');
  if (paging) values[paging.parameter] = whole ? paging.everything ?? '-1' : q.get('p') ?? '1';
  if (serverFind) values.q = find;
  if (serverSort) values[list.list!.sort!.parameter] = sort;
  if (has(list, 'compressed')) values.compressed = '1';
  const key = r.name + JSON.stringify(values);
  useEffect(() => {
    if (missing.length) { setData(undefined); return; }
    let gone = false;
    setBusy(true); setFault(undefined);
    const t = setTimeout(() => call(list, values).then(a => { if (!gone) { setData(a.data); setBusy(false); } }, e => { if (!gone) { setFault(e); setBusy(false); } }), data ? 120 : 0);
    return () => { gone = true; clearTimeout(t); };
  }, [key, again]);
  useEffect(() => { setData(undefined); return listen(e => { if (e === 'back') setAgain(n => n + 1); }); }, [r.name]);
  const rows = useMemo(() => {
    let all = rowsOf(data, list).map(row => ({ row, flat: flat(row) }));
    if (find && !serverFind) { const w = find.toLowerCase(); all = all.filter(x => JSON.stringify(x.row).toLowerCase().includes(w)); }
    if (sort && !serverSort) { const [k, d] = sort.startsWith('-') ? [sort.slice(1), -1] : [sort, 1]; all = [...all].sort((a, b) => d * String(at(a.flat, k) ?? '').localeCompare(String(at(b.flat, k) ?? ''), undefined, { numeric: true })); }
    return all;
  }, [data, find, sort]);
  const columns = useMemo(() => columnsOf(list, rows.slice(0, 30).map(x => x.flat)), [r.name, data]);
  const sorts = useMemo(() => sortsOf(list), [list]), upOf = (c: string) => serverSort ? sorts[c]?.up ?? sorts[c]?.down : c, downOf = (c: string) => serverSort ? sorts[c]?.down : '-' + c;
  const total = pagesOf(data, list), page = Number(q.get('p') ?? 1), limit = whole ? 200 : rows.length;
  const chosen = own.filter(p => q.get(p.name)).length, asked = filters || chosen > 0 || own.some(p => p.required), change = (v: Record<string, string | undefined>) => refine(route, { p: undefined, ...v });
  const create = r.operations.create;
  return <>
    <header class="page"><h1>{r.title}</h1><div class="bar">
      {r.name === 'apis' && may(create) && <a class="button" href="#/apis/import">Import</a>}
      {create && may(create) && <a class="button primary" href={to([r.name, '+new'], parents.length ? values : {})}>New</a>}
      <details class="menu"><summary class="button">More</summary><div>
        <button type="button" onClick={() => copy(curl(ask(list, values)), 'The command')}>Copy as curl</button>
        <button type="button" onClick={() => call(list, { ...values, ...(paging ? { [paging.parameter]: paging.everything ?? '-1' } : {}), compressed: '' }).then(a => download(r.name + '.json', a.text), setFault)}>Export all as JSON</button>
        {[...Object.values(r.operations)].filter(o => o !== list && o !== create && o.method !== 'GET' && !pathParams(o).length && may(o)).map(o => <a key={o.id} href={to(['run', o.id])}>{o.summary}</a>)}
        {[...Object.values(r.operations)].filter(o => o !== list && o.method === 'GET' && !pathParams(o).length && may(o)).map(o => <a key={o.id} href={to(['run', o.id])}>{o.summary}</a>)}
      </div></details></div></header>
    {parents.map(p => <label class="find" key={p.name}>{label(p.name)} <input value={q.get(p.name) ?? ''} placeholder={p.description} onChange={(e: any) => change({ [p.name]: e.target.value })} /></label>)}
    {missing.length > 0 ? <p class="empty">{r.title} belong to one {label(missing[0].name).replace(/ ID$/, '')}. Say which.</p> : <>
    <div class="tools" role="search"><input type="search" id="find" aria-label={`Find in ${r.title}`} placeholder={serverFind ? `Find… ${list.parameters.find(p => p.name === 'q')?.description ?? ''}` : 'Find in all fields…'} value={find} onInput={(e: any) => change({ q: e.target.value })} />
      {own.length > 0 && !own.some(p => p.required) && <button type="button" aria-expanded={asked} onClick={() => setFilters(!filters)}>Filters{chosen > 0 && ` (${chosen})`}</button>}
      {chosen + (find ? 1 : 0) > 0 && <button type="button" class="quiet" onClick={() => change({ q: undefined, ...Object.fromEntries(own.map(p => [p.name, undefined])) })}>Clear</button>}</div>
    {asked && <div class="filters">{own.map(p => <Filter key={p.name} p={p} value={values[p.name]} onChange={v => change({ [p.name]: v || undefined })} />)}</div>}
    <Trouble p={fault} op={list} retry={() => setAgain(again + 1)} />
    {!data && !fault && <Loading what={r.title} />}
    {data !== undefined && data !== null && <>
      <p role="status" class="soft count">{busy ? 'Loading…' : whole ? `${rows.length} of ${rowsOf(data, list).length}${rows.length > limit ? `, the first ${limit} are shown` : ''}` : pages && total > 1 ? `Page ${page} of ${total}` : `${rows.length} ${rows.length === 1 ? 'entry' : 'entries'}`}</p>
      {rows.length === 0 ? <div class="empty"><p>{find || chosen ? 'Nothing fits.' : `There are no ${midway(r.title)}${own.some(p => p.required) ? '' : ' yet'}.`}</p>{!find && !chosen && create && may(create) && <a class="button primary" href={to([r.name, '+new'])}>Make the first one</a>}</div>
        : <div class="scroll" tabIndex={0} role="region" aria-label={`Table of ${r.title}`}><table>
          <thead><tr>{columns.map(c => <th scope="col" key={c} aria-sort={sort && sort === upOf(c) ? 'ascending' : sort && sort === downOf(c) ? 'descending' : undefined}>{upOf(c) ? <button type="button" onClick={() => change({ sort: sort === upOf(c) ? downOf(c) : upOf(c) })}>{label(c.split('.').pop()!)}<span aria-hidden="true">{sort === upOf(c) ? ' ↑' : sort === downOf(c) ? ' ↓' : <span class="soft"> ↕</span>}</span></button> : label(c.split('.').pop()!)}</th>)}</tr></thead>
          <tbody>{rows.slice(0, limit).map(({ row, flat }, i) => <tr key={idOf(row, r.facts) + i}>{columns.map((c, n) => n ? <td key={c}><Value v={at(flat, c)} /></td> : <th scope="row" key={c}><Row r={r} row={row} parents={values} parentNames={parents.map(p => p.name)}>{isTime(at(flat, c)) ? <Time at={at(flat, c)} /> : String(at(flat, c) ?? '') || nameOf(row, r.facts) || idOf(row, r.facts)}</Row></th>)}</tr>)}</tbody></table></div>}
      {pages && !whole && total > 1 && <Pages page={page} total={total} go={n => refine(route, { p: String(n) })} />}
    </>}</>}
  </>;
}

/** A row leads to the record, or shows itself where records cannot be fetched one by one. */
function Row({ r, row, children, parents, parentNames }: { r: Resource; row: any; children: any; parents: Record<string, string>; parentNames: string[] }) {
  const [open, set] = useState(false), id = idOf(row, r.facts), home = homeOf(r, row);
  if (r.operations.get && id && may(r.operations.get)) return <a href={to([home, id], Object.fromEntries(parentNames.map(n => [n, parents[n]])))}>{children}</a>;
  return <><button type="button" class="link" onClick={() => set(true)}>{children}</button>{open && <Dialog title={nameOf(row, r.facts) || r.title} close={() => set(false)} wide><Shown v={row} />{r.operations.get && !may(r.operations.get) && <p class="soft">More needs {needs(r.operations.get)}.</p>}</Dialog>}</>;
}

/** Whether a parameter is a time in Unix seconds. */
const timed = (p: Parameter) => /Unix seconds/.test(p.description ?? '');
/** The value of a required parameter until somebody chooses another one: lists of a period show the last week. */
const usual = (list: Operation, p: Parameter, hour: number) => timed(p) ? String(list.list?.filters?.find(f => f.parameter === p.name)?.by === 'from' ? hour - 7 * 86_400 : hour) : '';
/** Unix seconds, and the text of a field for a moment, in the zone of the console. */
const momentOf = (seconds: string) => { const d = new Date(Number(seconds) * 1000); return seconds && !isNaN(+d) ? new Date(+d - (zoneName() === 'UTC' ? 0 : d.getTimezoneOffset() * 60_000)).toISOString().slice(0, 16) : ''; };
const secondsOf = (moment: string) => moment && String(Date.parse(zoneName() === 'UTC' ? moment + 'Z' : moment) / 1000);

function Filter({ p, value, onChange }: { p: Parameter; value: string; onChange: (v: string) => void }) {
  const id = 'filter-' + p.name, s = p.schema ?? {}, day = /YYYY-MM-DD/.test(p.description ?? '');
  return <div class="field"><label for={id}>{label(p.name)}</label>
    {s.enum || s.type === 'boolean' ? <select id={id} value={value} onChange={(e: any) => onChange(e.target.value)}><option value="">any</option>{(s.enum ?? ['true', 'false']).map((v: string) => <option key={v}>{v}</option>)}</select>
      : timed(p) ? <input id={id} type="datetime-local" value={momentOf(value)} required={p.required} aria-describedby={id + '-help'} onChange={(e: any) => onChange(secondsOf(e.target.value))} />
      : <input id={id} type={day ? 'date' : 'text'} value={value} aria-describedby={p.description && id + '-help'} onChange={(e: any) => onChange(e.target.value)} />}
    {p.description && <p class="help" id={id + '-help'}>{timed(p) ? p.description.replace(', in Unix seconds', '') : p.description}</p>}</div>;
}
