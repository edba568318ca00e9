import { useEffect, useRef, useState } from 'preact/hooks';
import { Problem } from './http';
import { call, may, operations } from './spec';
import { go, guard, to } from './route';
import { Editor } from './editor';
import { Denied, Trouble, label, say } from './ui';

const options = ['listenPath', 'upstreamURL', 'customDomain', 'allowList', 'validateRequest', 'mockResponse', 'authentication'];

/** An API out of a description: pasted, from a file, or from an address. What the server thinks of it is shown while it is written. */
export function ImportPage() {
  const op = operations.get('apis.oas.import'), dry = operations.get('apis.oas.dry-run');
  const [from, setFrom] = useState<'paste' | 'file' | 'address'>('paste'), [text, setText] = useState(''), [file, setFile] = useState<File>(), [url, setURL] = useState('');
  const [values, set] = useState<Record<string, string>>({}), [found, setFound] = useState<any>(), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false), [looking, setLooking] = useState(false), round = useRef(0);
  useEffect(() => { guard(() => text.trim() !== ''); return () => guard(undefined); }, [text]);
  useEffect(() => {
    const mine = ++round.current;
    setFault(undefined); setFound(undefined);
    if (from === 'address' || !text.trim() || !dry) { setLooking(false); return; }
    setLooking(true);
    const t = setTimeout(async () => {
      try {
        const json = text.trim().startsWith('{') ? text : (await import('./yaml')).toJSON(text);
        const a = await call(dry, values, `{"oas":${json}}`);
        if (mine === round.current) setFound(a.data);
      } catch (e) { if (mine === round.current) setFault('detail' in (e as any) ? e as Problem : { status: 0, detail: `The description cannot be read: ${(e as Error).message}` }); }
      if (mine === round.current) setLooking(false);
    }, 500);
    return () => clearTimeout(t);
  }, [text, from, JSON.stringify(values)]);
  if (!op || !may(op)) return <><h1>Import an API</h1>{op && <Denied op={op} />}</>;
  const pick = async (f: File | undefined) => { setFile(f); if (f && f.size < 8 << 20 && !/\.zip$/i.test(f.name)) setText(await f.text()); else setText(''); };
  const archive = from === 'file' && file && !text, ready = from === 'address' ? /^https?:\/\/./.test(url) : !!archive || !!found;
  const run = async () => {
    setBusy(true); setFault(undefined);
    try {
      let body: string | FormData;
      if (from === 'address') body = JSON.stringify({ url });
      else if (archive) { body = new FormData(); body.append('file', file!); }
      else body = text.trim().startsWith('{') ? text : (await import('./yaml')).toJSON(text);
      const a = await call(op, values, body);
      guard(undefined); say('The API is there.');
      go(to(['apis.oas', String(a.data.ID)]));
    } catch (e) { setFault(e as Problem); }
    setBusy(false);
  };
  const x = found?.['x-tyk-api-gateway'], paths = Object.entries<any>(found?.paths ?? {}), ops = paths.flatMap(([p, m]) => Object.keys(m).filter(k => /^(get|put|post|delete|patch|head|options|trace)$/.test(k)).map(k => k.toUpperCase() + ' ' + p));
  return <>
    <nav class="crumbs" aria-label="Where you are"><a href="#/apis">APIs</a></nav>
    <header class="page"><h1>Import an API</h1></header>
    <p>{op.notes}</p>
    <div class="views" role="group" aria-label="Where the description comes from">{([['paste', 'Paste'], ['file', 'File'], ['address', 'Address']] as const).map(([k, t]) => <button key={k} type="button" aria-pressed={from === k} onClick={() => setFrom(k)}>{t}</button>)}</div>
    <div class="wizard"><section aria-label="Description">
      {from === 'file' && <div class="field"><label for="file">OpenAPI file: JSON, YAML or ZIP</label><input id="file" type="file" accept=".json,.yaml,.yml,.zip,application/json" onChange={(e: any) => pick(e.target.files[0])} /></div>}
      {from === 'address' ? <div class="field"><label for="url">Address of the description</label><input id="url" type="url" placeholder="https://…" value={url} onInput={(e: any) => setURL(e.target.value)} /><p class="help">The server downloads it, not your browser.</p></div>
        : (from === 'paste' || text) && <Editor key={from} language={text.trim().startsWith('{') || !text ? 'json' : 'yaml'} label="OpenAPI description" text={text} onChange={setText} />}
      <details class="group" open><summary>Choices</summary><div class="filters">{options.map(n => op.parameters.find(p => p.name === n)).filter(p => p).map(p => <div class="field" key={p!.name}><label for={'o-' + p!.name}>{label(p!.name)}</label>
        {p!.schema.type === 'boolean' || /^(allowList|validateRequest|mockResponse|authentication)$/.test(p!.name) ? <select id={'o-' + p!.name} value={values[p!.name] ?? ''} onChange={(e: any) => set({ ...values, [p!.name]: e.target.value })}><option value="">as it is</option><option value="true">on</option><option value="false">off</option></select> : <input id={'o-' + p!.name} value={values[p!.name] ?? ''} onInput={(e: any) => set({ ...values, [p!.name]: e.target.value })} />}
        {p!.description && <p class="help">{p!.description}</p>}</div>)}</div></details>
    </section><section aria-label="What the server thinks of it" aria-live="polite">
      <h2>Findings</h2>
      {looking && <p class="soft">Looking…</p>}
      {!text && from !== 'address' && !archive && <p class="soft">Findings come while you write.</p>}
      {from === 'address' && <p class="soft">The server looks at it when you import.</p>}
      {archive && <p class="soft">The server unpacks it when you import.</p>}
      <Trouble p={fault} op={op} />
      {found && <><p><span class="badge yes">It can be imported</span></p><dl class="shown"><div><dt>Name</dt><dd>{x?.info?.name ?? found.info?.title}</dd></div><div><dt>Address on gateways</dt><dd><code>{x?.server?.listenPath?.value}</code></dd></div><div><dt>Passes calls on to</dt><dd><code>{x?.upstream?.url}</code></dd></div><div><dt>Authentication</dt><dd>{x?.server?.authentication?.enabled ? Object.keys(x.server.authentication.securitySchemes ?? {}).join(', ') || 'on' : 'none: everybody may call it'}</dd></div><div><dt>Endpoints</dt><dd>{ops.length}</dd></div></dl>
        {ops.length > 0 && <details class="group"><summary>Endpoints and their middleware</summary><ul class="plain">{paths.flatMap(([path, m]) => Object.entries<any>(m).filter(([k]) => /^(get|put|post|delete|patch|head|options|trace)$/.test(k)).map(([k, o]) => <li key={k + path}><code>{k.toUpperCase()} {path}</code> <span class="soft">{Object.keys(x?.middleware?.operations?.[o.operationId] ?? {}).map(label).join(', ')}</span></li>)).slice(0, 200)}</ul></details>}</>}
      <div class="actions"><button type="button" class="primary" disabled={!ready || busy || looking} onClick={run}>{busy ? 'Importing…' : 'Import'}</button></div>
    </section></div>
  </>;
}
