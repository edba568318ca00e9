import { useState } from 'preact/hooks';
import { Answer, Problem, curl } from './http';
import { Operation, ask, call, may, uploads } from './spec';
import { Route } from './route';
import { DocumentEditor } from './editor';
import { Shown } from './shown';
import { Denied, Dialog, Trouble, copy, download, label } from './ui';

/** Any operation there is: its parameters, its body, its answer. */
export function RunPage({ op, route }: { op: Operation; route: Route }) {
  const [values, set] = useState<Record<string, string>>(Object.fromEntries(route.query)), [body, setBody] = useState(op.body ? JSON.stringify(op.example ?? {}, null, 2) : ''), [file, setFile] = useState<File>();
  const [answer, setAnswer] = useState<Answer>(), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(false), [sure, setSure] = useState(false);
  if (!may(op)) return <><h1>{op.summary}</h1><Denied op={op} /></>;
  const shown = op.parameters.filter(p => !/^If-/.test(p.name)), upload = uploads(op);
  const content = () => { if (!op.bodies.length) return undefined; if (!upload) return body; const f = new FormData(); if (file) f.append('file', file); return f; };
  const run = async () => { setBusy(true); setFault(undefined); setAnswer(undefined); setSure(false); try { setAnswer(await call(op, values, content())); } catch (e) { setFault(e as Problem); } setBusy(false); };
  return <>
    <header class="page"><h1>{op.summary}</h1></header>
    <p class="soft"><code>{op.method} {op.path}</code></p>{op.notes && <p>{op.notes}</p>}
    <form onSubmit={e => { e.preventDefault(); if (op.method === 'GET' || op.rehearsable && values.dry_run === 'true') run(); else setSure(true); }}>
      <div class="filters">{shown.map(p => <div class="field" key={p.name}><label for={'p-' + p.name}>{label(p.name)}{p.required && <span class="must"> required</span>}</label>
        {p.schema.type === 'boolean' || p.schema.enum ? <select id={'p-' + p.name} value={values[p.name] ?? ''} onChange={(e: any) => set({ ...values, [p.name]: e.target.value })}><option value="">(not sent)</option>{(p.schema.enum ?? ['true', 'false']).map((v: string) => <option key={v}>{v}</option>)}</select>
          : <input id={'p-' + p.name} required={p.required} value={values[p.name] ?? ''} autoComplete="off" aria-describedby={p.description && 'p-' + p.name + '-help'} onInput={(e: any) => set({ ...values, [p.name]: e.target.value })} />}
        {p.description && <p class="help" id={'p-' + p.name + '-help'}>{p.description}</p>}</div>)}</div>
      {upload ? <div class="field"><label for="file">File</label><input id="file" type="file" required onChange={(e: any) => setFile(e.target.files[0])} /></div> : op.bodies.length > 0 && <DocumentEditor label="Body of the call" text={body} onChange={setBody} />}
      <div class="actions"><button class="primary" disabled={busy}>{busy ? 'Waiting…' : op.method === 'GET' ? 'Ask' : 'Do it…'}</button><button type="button" onClick={() => copy(curl(ask(op, values, upload ? undefined : content() as string)), 'The command')}>Copy as curl</button></div>
    </form>
    <Trouble p={fault} op={op} retry={op.method === 'GET' ? run : undefined} />
    {answer && <section class="read"><h2>Answer</h2><div class="bar"><span class="badge yes">{answer.status}</span><button type="button" onClick={() => copy(answer.text, 'The answer')}>Copy</button><button type="button" onClick={() => download(op.id + (typeof answer.data === 'object' ? '.json' : '.txt'), answer.text)}>Save as a file</button></div>
      {answer.data && typeof answer.data === 'object' ? <Shown v={answer.data} /> : <pre class="answer">{answer.text.slice(0, 100_000) || 'It answered with nothing.'}</pre>}</section>}
    {sure && <Dialog title={`${op.summary}?`} close={() => setSure(false)}><p><code>{op.method} {ask(op, values).path}</code></p><div class="actions"><button type="button" class={op.method === 'DELETE' ? 'danger' : 'primary'} autoFocus onClick={run}>Do it</button><button type="button" onClick={() => setSure(false)}>Not now</button></div></Dialog>}
  </>;
}
