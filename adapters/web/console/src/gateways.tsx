import { useEffect, useState } from 'preact/hooks';
import { Problem, listen } from './http';
import { call, may, needs, operations, placeOf, rowsOf } from './spec';
import { to } from './route';
import { Denied, Dialog, Loading, Time, Trouble, ago, say } from './ui';

const every = 5000;

/** Asks an operation again and again while somebody looks. Null where the caller may not ask. */
function useLive(id: string): { data: any; fault?: Problem; again: () => void } {
  const [data, set] = useState<any>(), [fault, setFault] = useState<Problem>(), [round, again] = useState(0), op = operations.get(id);
  useEffect(() => {
    if (!op || !may(op)) { set(null); return; }
    let gone = false, timer = 0;
    const ask = async () => {
      try { const a = await call(op); if (!gone) { set(a.data); setFault(undefined); } } catch (e) { if (!gone) setFault(e as Problem); }
      if (!gone) timer = window.setTimeout(tick, every);
    };
    const tick = () => { if (document.hidden) timer = window.setTimeout(tick, every); else ask(); };
    ask();
    const stop = listen(e => { if (e === 'back') again(n => n + 1); });
    return () => { gone = true; clearTimeout(timer); stop(); };
  }, [id, round]);
  return { data, fault, again: () => again(round + 1) };
}

/** What gateways do at this moment: who is alive, what they have loaded, what they cannot. */
export function GatewaysPage() {
  const list = operations.get('system.nodes.list')!, reload = operations.get('gateway.reload');
  const nodes = useLive('system.nodes.list'), feeds = useLive('system.feeds.list'), control = useLive('gateway.control'), told = useLive('system.announcements.list'), intents = useLive('intents.list');
  const [asking, ask] = useState(false), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false);
  if (!may(list)) return <><h1>Gateways</h1><Denied op={list} /></>;
  const live: any[] = rowsOf(nodes.data, list), loaded: any[] = rowsOf(feeds.data, operations.get('system.feeds.list')), left = loaded.flatMap(f => (f.left_out ?? []).map((l: any) => ({ ...l, feed: f.feed }))), open = rowsOf(intents.data, operations.get('intents.list'));
  const run = async () => { setBusy(true); setFault(undefined); try { await call(reload!); ask(false); say('Gateways are told to load everything anew.'); nodes.again(); } catch (e) { setFault(e as Problem); } setBusy(false); };
  return <><header class="page"><h1>Gateways</h1><div class="bar">{may(reload) ? <button type="button" onClick={() => ask(true)}>Reload all…</button> : reload && <span class="soft">To reload them you need {needs(reload)}.</span>}</div></header>
    <Trouble p={nodes.fault} op={list} retry={nodes.again} />
    {!nodes.data && !nodes.fault && <Loading what="gateways" />}
    {nodes.data && (live.length === 0 ? <p class="empty">No gateway is connected. One that has the address of this service and the node secret shows up here by itself.</p>
      : <div class="scroll" tabIndex={0} role="region" aria-label="Live gateways"><table><thead><tr><th scope="col">Gateway</th><th scope="col">Since</th><th scope="col">Heard of</th><th scope="col">What it has loaded</th></tr></thead>
        <tbody>{live.map(n => <tr key={n.node_id}><th scope="row">{n.hostname || n.node_id}<br /><code class="soft">{n.node_id}</code></th><td><Time at={n.first_seen} /></td><td>{ago(Date.parse(n.last_seen) / 1000)}</td>
          <td><span class="tags">{(n.feeds ?? []).map((f: any) => <span key={f.name} class={!f.fetched || f.behind ? 'badge bad' : 'badge yes'}>{f.name}: {!f.fetched ? 'never loaded' : f.behind ? 'behind' : 'up to date'}</span>)}</span></td></tr>)}</tbody></table></div>)}
    <div class="panels">
      <section class="panel"><h2>What gateways are given</h2><Trouble p={feeds.fault} op={operations.get('system.feeds.list')} retry={feeds.again} />
        {feeds.data === undefined && !feeds.fault ? <Loading what="feeds" /> : <ul class="plain">{loaded.map(f => <li key={f.feed}><strong>{f.feed}</strong>: {f.entries} {f.entries === 1 ? 'entry' : 'entries'}{f.left_out?.length > 0 && <> <span class="badge bad">{f.left_out.length} left out</span></>}</li>)}</ul>}
        {left.length > 0 && <><h3>Left out, and why</h3><p class="soft">A gateway could not read these. The others are served.</p><ul>{left.slice(0, 100).map((l, i) => { const at = placeOf(l.kind, l.id); return <li key={i}>{l.kind} {at ? <a href={at}>{l.id}</a> : <strong>{l.id}</strong>} in {l.feed}: {(l.problems ?? []).map((p: any) => `${p.path || 'the document'} must be ${p.want}, not ${p.got}`).join('; ')}</li>; })}</ul></>}
        {feeds.data && left.length === 0 && <p class="soft">Nothing is left out.</p>}</section>
      {told.data !== null && <section class="panel"><h2>What they were told lately</h2><Trouble p={told.fault} op={operations.get('system.announcements.list')} retry={told.again} />
        {told.data === undefined && !told.fault && <Loading what="announcements" />}
        {told.data && <>{!told.data.announcing && <p class="soft">Gateways are told nothing: there is no Redis, or notify_on_change is off. They see a change when they are reloaded.</p>}
          {told.data.announcements.length === 0 ? <p class="soft">Nothing has changed that concerns them.</p> : <ol class="plain">{told.data.announcements.slice(0, 12).map((a: any, i: number) => { const at = a.kind && placeOf(a.kind, a.subject); return <li key={i}>{a.command} {at ? <a href={at}>{a.subject}</a> : <strong>{a.subject}</strong>} <span class="soft">{ago(Date.parse(a.date) / 1000)}{a.user && `, ${a.user}`}</span></li>; })}</ol>}
          {told.data.announcements.length > 12 && <a href={to(['system.announcements'])}>All {told.data.announcements.length}</a>}</>}</section>}
      {control.data !== null && <section class="panel"><h2>Keys and certificates</h2><Trouble p={control.fault} op={operations.get('gateway.control')} retry={control.again} />
        {control.data && (control.data.own_store ? <p>They are kept in the store of this service: no gateway is asked for them.</p> : <ul class="plain">{(control.data.gateways ?? []).map((g: any) => <li key={g.url}><code>{g.url}</code> <span class={g.answers ? 'badge yes' : 'badge bad'}>{g.answers ? 'answers' : g.asked ? 'does not answer' : 'not asked yet'}</span>{g.since && g.asked && <span class="soft"> since <Time at={g.since} /></span>}</li>)}</ul>)}</section>}
      {intents.data !== null && <section class="panel"><h2>Changes on their way</h2><Trouble p={intents.fault} op={operations.get('intents.list')} retry={intents.again} />
        {intents.data && (open.length === 0 ? <p class="soft">None.</p> : <ul class="plain">{open.slice(0, 20).map((x: any) => <li key={x.id}><a href={to(['intents', x.id])}>{x.action} {x.subject?.id}</a> <span class={x.state === 'failed' ? 'badge bad' : 'badge'}>{x.state}</span>{x.error && <span class="soft"> {x.error}</span>}</li>)}</ul>)}</section>}
    </div>
    {asking && <Dialog title="Reload all gateways?" close={() => ask(false)}><p>All gateways load everything anew, within a second or two. Calls go on meanwhile.</p><Trouble p={fault} op={reload} /><div class="actions"><button type="button" class="primary" autoFocus disabled={busy} onClick={run}>{busy ? 'Telling them…' : 'Reload'}</button><button type="button" onClick={() => ask(false)}>Cancel</button></div></Dialog>}
  </>;
}
