import { useState } from 'preact/hooks';
import { Problem } from './http';
import { call, may, operations, placeOf, rowsOf } from './spec';
import { Route, refine } from './route';
import { Pages } from './shown';
import { Denied, Dialog, Loading, Time, Trouble, Value, say, useAnswer } from './ui';

const day = 86_400_000, soon = 30;

/** When it ends, in words that say how much haste there is. Public keys never do. */
function Ends({ at }: { at: string }) {
  const ms = +new Date(at), left = Math.floor((ms - Date.now()) / day);
  if (isNaN(ms) || new Date(ms).getUTCFullYear() < 1971) return <span class="soft">never</span>;
  return <>{ms < Date.now() ? <span class="badge bad">has ended</span> : left < soon ? <span class="badge bad">{left === 0 ? 'ends within a day' : left === 1 ? 'one day left' : `${left} days left`}</span> : <span class="badge yes">{left} days left</span>} <Time at={at} /></>;
}

const called = (c: any) => c.subject?.CommonName || c.dns_names?.[0] || c.id;

/** Certificates by the day on which they end, and what uses them. */
export function CertificatesPage({ route }: { route: Route }) {
  const list = operations.get('certs.details')!, create = operations.get('certs.create'), remove = operations.get('certs.delete'), page = route.query.get('p') ?? '1', filter = route.query.get('filter') ?? '';
  const [shown, show] = useState<any>(), [gone, drop] = useState<any>(), [uploading, upload] = useState(false), { data, fault, again } = useAnswer(may(list) ? list : undefined, { p: page, filter });
  if (!may(list)) return <><h1>Certificates</h1><Denied op={list} /></>;
  const rows = [...rowsOf(data, list)].sort((a, b) => order(a) - order(b));
  return <><header class="page"><h1>Expiry and use of certificates</h1><div class="bar">{may(create) && <button type="button" class="primary" onClick={() => upload(true)}>Upload…</button>}</div></header>
    <div class="tools"><label>Show <select value={filter} onChange={(e: any) => refine(route, { filter: e.target.value, p: undefined })}><option value="">all</option><option value="with_pk">with a private key</option><option value="without_pk">without one</option></select></label></div>
    <Trouble p={fault} op={list} retry={again} />{!data && !fault && <Loading what="certificates" />}
    {data && (rows.length === 0 ? <p class="empty">There is no certificate.</p> : <div class="scroll" tabIndex={0} role="region" aria-label="Certificates"><table><thead><tr><th scope="col">Subject</th><th scope="col">Ends</th><th scope="col">Issuer</th><th scope="col">Names</th><th scope="col">Private key</th><th scope="col">Actions</th></tr></thead>
      <tbody>{rows.map(c => <tr key={c.id}><th scope="row">{called(c)}{c.is_ca && <> <span class="badge">authority</span></>}<br /><code class="soft" title={c.id}>{c.fingerprint?.slice(0, 16)}…</code></th><td><Ends at={c.not_after} /></td><td>{c.issuer?.CommonName || <span class="soft">—</span>}</td><td><Value v={c.dns_names ?? []} /></td><td>{c.has_private ? 'yes' : 'no'}</td>
        <td><div class="bar"><button type="button" aria-label={`Used by: ${called(c)}`} onClick={() => show(c)}>Used by</button>{may(remove) && <button type="button" class="danger" aria-label={`Delete ${called(c)}`} onClick={() => drop(c)}>Delete…</button>}</div></td></tr>)}</tbody></table></div>)}
    {data?.pages > 1 && <Pages page={Number(page)} total={data.pages} go={n => refine(route, { p: String(n) })} />}
    {shown && <Dialog title={`What uses ${called(shown)}`} close={() => show(undefined)}><Uses id={shown.id} /></Dialog>}
    {gone && <Remove of={gone} close={() => drop(undefined)} done={again} />}
    {uploading && <Upload close={() => upload(false)} done={again} />}
  </>;
}

const order = (c: any) => { const ms = +new Date(c.not_after); return isNaN(ms) || new Date(ms).getUTCFullYear() < 1971 ? Infinity : ms; };
const words: Record<string, string> = { client: 'callers come with it', upstream: 'for the upstream', server: 'for the domain' };

/** APIs that use it, and the key that it opens. */
function Uses({ id, told }: { id: string; told?: (used: boolean) => void }) {
  const apis = operations.get('certs.apis')!, deps = operations.get('certs.dependencies')!, a = useAnswer(apis, { certId: id }), d = useAnswer(deps, { certId: id }, x => told?.(Boolean(x.key_cert || x.client_cert_apis?.length || x.upstream_cert_apis?.length)));
  if (a.fault || d.fault) return <Trouble p={a.fault ?? d.fault} op={apis} retry={() => { a.again(); d.again(); }} />;
  if (!a.data || !d.data) return <Loading what="what uses it" />;
  const all: any[] = a.data.apis ?? [];
  return <>{all.length === 0 && !d.data.key_cert && <p>Nothing uses it.</p>}
    {all.length > 0 && <ul>{all.map(x => { const at = placeOf('api', x.api_id); return <li key={x.api_id}>{at ? <a href={at}>{x.name || x.api_id}</a> : x.name || x.api_id}: {(x.usage_type ?? []).map((u: string) => words[u] ?? u).join(', ')}</li>; })}</ul>}
    {d.data.key_cert && <p>It opens a key.</p>}</>;
}

/** Says who is hit; then deletes it, and takes it out of what uses it when that is wanted. */
function Remove({ of, close, done }: { of: any; close: () => void; done: () => void }) {
  const op = operations.get('certs.delete')!, detach = operations.get('certs.detach'), [used, setUsed] = useState<boolean>(), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false);
  const remove = async (from: boolean) => { setBusy(true); setFault(undefined); try { if (from) await call(detach!, { certId: of.id }); await call(op, { certId: of.id }); close(); say('The certificate is deleted.'); done(); } catch (e) { setFault(e as Problem); setBusy(false); } };
  return <Dialog title={`Delete ${called(of)}?`} close={close}><Uses id={of.id} told={setUsed} />
    {used && <p class="wrong">APIs that name it refuse callers who come with it, and calls of upstreams that ask for it fail. The key that it opens opens no more.</p>}
    <Trouble p={fault} op={op} />
    <div class="actions">{used && may(detach) && <button type="button" class="danger" disabled={busy} onClick={() => remove(true)}>Take it out of all, and delete</button>}<button type="button" class="danger" disabled={busy || used === undefined} onClick={() => remove(false)}>{used ? 'Delete it only' : 'Delete'}</button><button type="button" autoFocus onClick={close}>Keep it</button></div></Dialog>;
}

/** A file, or the text of one. The private key goes to the server and is never shown again. */
function Upload({ close, done }: { close: () => void; done: () => void }) {
  const op = operations.get('certs.create')!, [text, write] = useState(''), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false);
  const submit = async (e: any) => {
    e.preventDefault(); setBusy(true); setFault(undefined);
    const body = new FormData();
    body.append('cert', new Blob([text], { type: 'application/x-pem-file' }), 'certificate.pem');
    try { await call(op, {}, body); close(); say('The certificate is stored.'); done(); } catch (e) { setFault(e as Problem); setBusy(false); }
  };
  return <Dialog title="Upload a certificate" close={close}><form onSubmit={submit}>
    <div class="field"><label for="pem">File (PEM)</label><input id="pem" type="file" accept=".pem,.crt,.cer,.key" onChange={async (e: any) => { const f = e.target.files[0]; if (f) write(await f.text()); }} /></div>
    <div class="field"><label for="text">Or its text</label><textarea id="text" class="plain-editor" rows={8} spellcheck={false} autoComplete="off" value={text} aria-describedby="text-help" onInput={(e: any) => write(e.target.value)} /><p class="help" id="text-help">A certificate, with its chain and its private key if gateways show it; or one public key. Private keys cannot be read back.</p></div>
    <Trouble p={fault} op={op} /><div class="actions"><button class="primary" disabled={busy || !text.trim()}>{busy ? 'Storing it…' : 'Store it'}</button><button type="button" onClick={close}>Cancel</button></div></form></Dialog>;
}
