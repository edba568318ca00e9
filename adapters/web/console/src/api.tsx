import { useState } from 'preact/hooks';
import { Problem } from './http';
import { Resource, call, may, operations, placeOf } from './spec';
import { go, to } from './route';
import { Dialog, Loading, Trouble, say, useAnswer } from './ui';

/** What an API is beside its document: which versions it has, and who names it. */
export function Surroundings({ r, id, data }: { r: Resource; id: string; data: any }) {
  const oas = r.name === 'apis.oas', ask = (name: string) => { const op = operations.get(name); return op && may(op) ? op : undefined; };
  const versions = ask('apis.oas.versions'), references = ask('apis.references'), rebase = ask('apis.oas.rebase') ?? [...operations.values()].find(o => o.path.includes('/rebase/') && may(o));
  const table = data?.['x-tyk-api-gateway']?.info?.versioning ?? data?.api_definition?.version_definition;
  const all = useAnswer(oas && table?.enabled && table?.versions?.length ? versions : undefined, { apiId: id }), named = useAnswer(r.name === 'apis' ? undefined : references, { apiId: id });
  const [next, choose] = useState<any>();
  const list: any[] = all.data?.apis ?? [];
  return <div class="panels">
    {oas && table?.enabled && table?.versions?.length > 0 && versions && <section class="panel"><h2>Versions</h2><Trouble p={all.fault} op={versions} retry={all.again} />{!all.data && !all.fault && <Loading what="versions" />}
      {all.data && <ul class="plain">{list.map(v => <li key={v.id}><a href={to(['apis.oas', v.id])}>{v.versionName}</a> <span class="soft">{v.name}</span> {v.isDefaultVersion && <span class="badge yes">default</span>} {v.internal && <span class="badge">internal</span>} {rebase && <button type="button" class="link" aria-label={`Make it the base: ${v.versionName}`} onClick={() => choose(v)}>Make it the base…</button>}</li>)}</ul>}</section>}
    {r.name !== 'apis' && references && <section class="panel"><h2>Used by</h2><Trouble p={named.fault} op={references} retry={named.again} />{!named.data && !named.fault && <Loading what="who names it" />}
      {named.data && (named.data.length === 0 ? <p class="soft">Nothing refers to this.</p> : <ul class="plain">{named.data.slice(0, 100).map((x: any, i: number) => { const at = x.kind === 'clientidp' ? to(['registry', x.id]) : placeOf(x.kind, x.id); return <li key={i}>{x.kind} {at ? <a href={at}>{x.name || x.id}</a> : <strong>{x.name || x.id}</strong>} <span class="soft">at {x.where}</span></li>; })}</ul>)}</section>}
    {next && <Rebase op={rebase!} id={id} of={next} close={() => choose(undefined)} />}
  </div>;
}

function Rebase({ op, id, of, close }: { op: any; id: string; of: any; close: () => void }) {
  const [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true); setFault(undefined);
    try { await call(op, { apiId: id, 'next-base-apiId': of.id }); close(); say(`${of.versionName} is the base now.`); go(to(['apis.oas', of.id])); } catch (e) { setFault(e as Problem); setBusy(false); }
  };
  return <Dialog title={`Make ${of.versionName} the base?`} close={close}><p>It takes over the table of versions; what is the base now becomes one of them under its own name. The default stays, and gateways reload once.{of.internal && ' It is internal now and becomes reachable.'}</p><Trouble p={fault} op={op} /><div class="actions"><button type="button" class="primary" autoFocus disabled={busy} onClick={run}>{busy ? 'Changing…' : 'Make it the base'}</button><button type="button" onClick={close}>Cancel</button></div></Dialog>;
}
