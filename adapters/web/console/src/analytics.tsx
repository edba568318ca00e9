import { useState } from 'preact/hooks';
import { Problem } from './http';
import { Operation, call, may, needs, operations, placeOf, rowsOf } from './spec';
import { Route, refine } from './route';
import { Chart } from './chart';
import { Denied, Loading, Trouble, download, useAnswer, zoneName } from './ui';

const day = 86_400_000, hourly = 3, listed = 20;
const ymd = (d: Date) => new Intl.DateTimeFormat('en-CA', { timeZone: zoneName(), year: 'numeric', month: '2-digit', day: '2-digit' }).format(d);
const number = (n: number) => n.toLocaleString('en'), ms = (n: number) => `${number(Math.round(n))} ms`, share = (r: any) => r.hits ? `${(100 * r.error / r.hits).toFixed(1)} %` : '—';

/** Plain numbers of the first and the last day, as the path of every view has them. */
function period(from: string, until: string): Record<string, string> {
  const [fy, fm, fd] = from.split('-').map(n => String(Number(n))), [uy, um, ud] = until.split('-').map(n => String(Number(n)));
  return { startDay: fd, startMonth: fm, startYear: fy, EndDay: ud, EndMonth: um, EndYear: uy };
}

/** All days, or hours, of the period: those without calls too. */
function slots(from: string, until: string, hours: boolean): { key: string; label: string }[] {
  const out: { key: string; label: string }[] = [], last = Date.parse(until);
  for (let t = Date.parse(from); t <= last && out.length < 2000; t += day) {
    const d = new Date(t), base = `${d.getUTCFullYear()}-${d.getUTCMonth() + 1}-${d.getUTCDate()}`, short = d.toLocaleDateString('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });
    if (!hours) out.push({ key: base, label: short });
    else for (let h = 0; h < 24; h++) out.push({ key: `${base}-${h}`, label: `${short} ${String(h).padStart(2, '0')}:00` });
  }
  return out;
}

/** What gateways report about traffic: over time, and by what it splits into. */
export function AnalyticsPage({ route }: { route: Route }) {
  const q = route.query, totals = operations.get('usage.totals')!, apis = operations.get('apis.list');
  const until = q.get('until') || ymd(new Date()), from = q.get('from') || ymd(new Date(Date.now() - 6 * day)), api = q.get('api') ?? '', key = q.get('key') ?? '', days = Math.round((Date.parse(until) - Date.parse(from)) / day) + 1, fits = days >= 1 && days <= 1830;
  const hours = days <= hourly, at = { ...period(from, until), tz: zoneName() }, over = { ...at, p: '-1', res: hours ? 'hour' : 'day', api_id: api };
  const names = useAnswer(apis && may(apis) ? apis : undefined, { p: apis?.list?.page?.everything ?? '0', compressed: '1' }), all = rowsOf(names.data, apis).map((x: any) => x.api_definition), nameOf = (id: string) => all.find((d: any) => d.api_id === id)?.name;
  const perKey = operations.get('activity.keys'), asked = key && perKey ? perKey : totals, { data, fault, again } = useAnswer(may(totals) && fits ? asked : undefined, key ? { ...over, keyHashes: key } : over);
  if (!may(totals)) return <><h1>Analytics</h1><Denied op={totals} /></>;
  const found = new Map<string, any>((data?.data ?? []).map((r: any) => [`${r.id.year}-${r.id.month}-${r.id.day}${hours ? '-' + r.id.hour : ''}`, r])), time = fits ? slots(from, until, hours) : [], rows = time.map(s => found.get(s.key) ?? { hits: 0, error: 0, latency: 0, upstream_latency: 0 }), labels = time.map(s => s.label);
  const sum = (f: (r: any) => number) => rows.reduce((s, r) => s + f(r), 0), hits = sum(r => r.hits), errors = sum(r => r.error);
  const last = (n: number) => refine(route, { from: ymd(new Date(Date.now() - (n - 1) * day)), until: ymd(new Date()) });
  const set = (name: string) => (e: any) => refine(route, { from, until, [name]: e.target.value });
  return <><header class="page"><h1>Analytics</h1><div class="views" role="group" aria-label="Period">{[[1, 'Today'], [7, '7 days'], [30, '30 days'], [90, '90 days']].map(([n, word]) => <button key={n} type="button" aria-pressed={days === n && until === ymd(new Date())} onClick={() => last(Number(n))}>{word}</button>)}</div></header>
    <div class="filters"><div class="field"><label for="from">From</label><input id="from" type="date" value={from} onChange={set('from')} /></div><div class="field"><label for="to">To</label><input id="to" type="date" value={until} onChange={set('until')} /></div>
      <div class="field"><label for="api">API</label><select id="api" value={api} onChange={set('api')}><option value="">all</option>{api && !nameOf(api) && <option value={api}>{api}</option>}{all.map((d: any) => <option key={d.api_id} value={d.api_id}>{d.name}</option>)}</select></div>
      <div class="field"><label for="key">Key</label><input id="key" value={key} placeholder="hash of a key" autoComplete="off" onChange={set('key')} /></div></div>
    <p class="soft">Days of {zoneName()}. The menu with your name changes the zone.</p>
    {!fits && <p role="alert" class="wrong">The first day must not be after the last one, and five years are the most that can be asked for.</p>}
    <Trouble p={fault} op={asked} retry={again} />{fits && !data && !fault && <Loading what="the traffic" />}
    {data && fits && <><dl class="figures"><div><dt>Calls</dt><dd>{number(hits)}</dd></div><div><dt>Errors</dt><dd>{number(errors)} <span class="soft">{share({ hits, error: errors })}</span></dd></div><div><dt>Latency</dt><dd>{hits ? ms(sum(r => r.latency * r.hits) / hits) : '—'}</dd></div><div><dt>Of this the upstream</dt><dd>{hits ? ms(sum(r => r.upstream_latency * r.hits) / hits) : '—'}</dd></div></dl>
      <div class="beside"><div><Chart title={hours ? 'Calls in each hour' : 'Calls on each day'} bars labels={labels} series={[{ name: 'fine', style: 'calm', values: rows.map(r => r.hits - r.error) }, { name: 'errors', style: 'loud', values: rows.map(r => r.error) }]} />
        <Chart title="Average latency, ms" labels={labels} series={[{ name: 'in all', style: 'calm', values: rows.map(r => r.latency) }, { name: 'upstream', style: 'other', values: rows.map(r => r.upstream_latency) }]} /></div>
        <div class="scroll tall" tabIndex={0} role="region" aria-label="The numbers of the charts"><table><thead><tr><th scope="col">{hours ? 'Hour' : 'Day'}</th><th scope="col">Calls</th><th scope="col">Errors</th><th scope="col">Latency</th></tr></thead><tbody>{rows.map((r, i) => <tr key={i}><th scope="row">{labels[i]}</th><td>{number(r.hits)}</td><td>{number(r.error)}</td><td>{r.hits ? ms(r.latency) : '—'}</td></tr>)}</tbody></table></div></div></>}
    {fits && <div class="halves">{key ? <Split title="What the key called" op={operations.get('activity.key')} values={{ ...at, keyHash: key, api_id: api }} of={r => `${nameOf(r.id.api_id) ?? r.id.api_id} ${r.id.path}`} />
      : <>{!api && <Split title="APIs" op={operations.get('usage.apis')} values={at} of={r => r.id.api_name || nameOf(r.id.api_id) || r.id.api_id} link={r => placeOf('api', r.id.api_id)} choose={r => refine(route, { from, until, api: r.id.api_id })} />}
        <Split title="Endpoints" op={operations.get('activity.endpoint')} values={{ ...at, api_id: api }} of={r => `${api ? '' : `${nameOf(r.id.api_id) ?? r.id.api_id} `}${r.id.path}`} note="Endpoints count that are tracked." />
        <Split title="Errors" op={operations.get('activity.error')} values={{ ...at, api_id: api }} of={r => r.id.path || String(r.id.code)} /></>}</div>}
  </>;
}

/** What the traffic splits into, the busiest first, with a bar for its part. */
function Split({ title, op, values, of, link, choose, note }: { title: string; op?: Operation; values: Record<string, string>; of: (r: any) => string; link?: (r: any) => string | undefined; choose?: (r: any) => void; note?: string }) {
  const { data, fault, again } = useAnswer(op && may(op) ? op : undefined, { ...values, p: '1' }), [lost, setLost] = useState<Problem>();
  if (!op) return null;
  if (!may(op)) return <section class="panel"><h2>{title}</h2><p class="soft">To see this you need {needs(op)}.</p></section>;
  const rows: any[] = (data?.data ?? []).slice(0, listed), most = Math.max(1, ...rows.map(r => r.hits));
  const save = () => call(op, { ...values, type: 'csv' }).then(a => download(`${title.toLowerCase()}.csv`, a.text, 'text/csv'), setLost);
  return <section class="panel"><header class="page"><h2>{title}</h2>{rows.length > 0 && <button type="button" aria-label={`Save ${title} as CSV`} onClick={save}>CSV</button>}</header>
    <Trouble p={fault ?? lost} op={op} retry={again} />{!data && !fault && <Loading what={title.toLowerCase()} />}
    {data && (rows.length === 0 ? <p class="soft">None in this period.{note && ' ' + note}</p> : <div class="scroll" tabIndex={0} role="region" aria-label={title}><table><thead><tr><th scope="col">{title.replace(/s$/, '')}</th><th scope="col">Calls</th><th scope="col">Errors</th><th scope="col">Latency</th></tr></thead>
      <tbody>{rows.map((r, i) => { const at = link?.(r); return <tr key={i}><th scope="row">{choose ? <button type="button" class="link" onClick={() => choose(r)}>{of(r)}</button> : of(r)}{at && <> <a href={at} aria-label={`${of(r)}: the record`}>→</a></>}<meter min={0} max={most} value={r.hits} aria-label={`Calls of ${of(r)}`} /></th><td>{number(r.hits)}</td><td>{number(r.error)} <span class="soft">{share(r)}</span></td><td>{ms(r.latency)}</td></tr>; })}</tbody></table></div>)}
    {(data?.pages > 1 || (data?.data ?? []).length > listed) && <p class="soft">The first {rows.length}. The file has all of them.</p>}</section>;
}
