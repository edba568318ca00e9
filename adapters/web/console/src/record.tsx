import { Endpoints, Surroundings } from './api';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Node, Path, parse, pretty, put, rename, same } from './doc';
import { curl, Problem } from './http';
import { Operation, Resource, ask, call, idOf, idParam, may, nameOf, needs, operations, pathParams, placeOf, resolve, single, writeOf } from './spec';
import { Members } from './form';
import { HistoryOf } from './history';
import { Sessions } from './people';
import { DocumentEditor } from './editor';
import { Conflict, Rehearsed, Sides } from './review';
import { Shown } from './shown';
import { Route, go, guard, refine, to } from './route';
import { Dialog, Loading, Trouble, copy, download, say } from './ui';

const made = ['id', '_id', 'org_id', 'api_id', 'client_idp_id', 'created_at', 'updated_at', 'date_created', 'last_updated', 'user_owners', 'user_group_owners', 'hook_references', 'webhook_id'];

/** What is left of a record when it becomes the draft of another one. */
function draftOf(text: string, op: Operation): string {
  const s = resolve(op.body), known = s?.properties && s.additionalProperties === undefined ? new Set(Object.keys(s.properties)) : undefined;
  let out = pretty(text);
  const gone = (prefix: Path, keep?: Set<string>) => { let n: Node | undefined = parse(out); for (const k of prefix) n = n?.members?.find(m => m.key === k)?.node; for (const m of n?.members ?? []) if (keep ? !keep.has(m.key) || made.includes(m.key) : made.includes(m.key)) out = put(out, [...prefix, m.key], undefined); };
  gone([], known);
  gone(['api_definition']);
  const g = parse(out).members?.find(m => m.key === 'x-tyk-api-gateway')?.node.members?.find(m => m.key === 'info');
  if (g) for (const k of ['id', 'dbId', 'orgId']) out = put(out, ['x-tyk-api-gateway', 'info', k], undefined);
  return out;
}

/** Some receipts say the identifier and nothing else. */
const isID = (s: unknown) => typeof s === 'string' && /^[0-9a-f]{24}$/.test(s);
const tidy = (t: string) => { try { return pretty(t); } catch { return t; } };

export function RecordPage({ r, id, route }: { r: Resource; id: string; route: Route }) {
  const fresh = id === '+new', read = r.operations.get, write = fresh ? r.operations.create : writeOf(r);
  const values: Record<string, string> = Object.fromEntries(route.query);
  const mine = !fresh && read ? idParam(read) : undefined;
  if (mine) values[mine] = id;
  const [above, title] = r.name.startsWith('apis.') ? ['apis', 'APIs'] : [r.name, r.title], list = operations.get(above + '.list');
  const [base, setBase] = useState<{ text: string; etag: string | null }>(), [text, setText] = useState<string>(), [fault, setFault] = useState<Problem>(), [round, setRound] = useState(0);
  const [step, setStep] = useState<{ kind: 'review'; meta?: any; fault?: Problem; busy?: boolean } | { kind: 'delete' } | { kind: 'answer'; data: any } | { kind: 'conflict'; theirs: string; etag: string | null }>();
  const view = route.query.get('view') ?? (fresh ? 'form' : 'read'), editable = !!write && may(write, id), dirty = useRef(false), latest = useRef<() => void>(() => {});
  dirty.current = text !== undefined && base !== undefined && !same(text, base.text);
  useEffect(() => { guard(() => dirty.current); return () => guard(undefined); }, []);
  useEffect(() => {
    let gone = false;
    setFault(undefined);
    const from = route.query.get('from'), source = fresh ? from && read ? call(read, { ...values, [idParam(read)!]: from }) : undefined : read && call(read, values);
    if (!source) { const first = write?.example !== undefined && !Object.keys(resolve(write.body)?.properties ?? {}).length ? JSON.stringify(write.example, null, 2) : '{}'; setBase({ text: first, etag: null }); setText(first); return; } // a form without fields says nothing
    source.then(a => { if (gone || dirty.current) return; /* somebody writes already: saving says what else has changed */ const t = fresh ? draftOf(a.text, write!) : tidy(a.text); setBase({ text: fresh ? '{}' : t, etag: fresh ? null : a.etag }); setText(t); }, e => { if (!gone) setFault(e); });
    return () => { gone = true; };
  }, [r.name, id, round]);
  const tree = useMemo(() => { try { return text === undefined ? undefined : parse(text); } catch { return undefined; } }, [text]);
  const edit = (path: Path, json: string | undefined, renamed?: string) => setText(t => { try { return renamed === undefined ? put(t!, path, json) : rename(t!, path, renamed); } catch { return t; } });
  const data = useMemo(() => { try { return base && JSON.parse(base.text); } catch { return undefined; } }, [base]);
  const name = fresh ? write?.summary ?? 'New' : single(r) ? r.title : data && nameOf(data, r.facts) || id;

  const review = async () => {
    if (!write || step) return;
    if (!tree) { say('The document is not valid JSON: mend it first.'); return; }
    setFault(undefined);
    setStep({ kind: 'review', busy: write.rehearsable });
    if (write.rehearsable) try { const a = await call(write, { ...values, 'If-Match': base?.etag ?? '', dry_run: 'true' }, text); setStep({ kind: 'review', meta: a.data?.Meta }); } catch (e) { await refused(e as Problem); }
  };
  latest.current = review;
  const refused = async (e: Problem) => {
    if (e.status === 412 && read) try { const a = await call(read, values); setStep({ kind: 'conflict', theirs: tidy(a.text), etag: a.etag }); return; } catch (again) { e = again as Problem; }
    setFault(e); setStep(undefined);
    if (e.field) setTimeout(() => (document.querySelector('[aria-invalid=true]') as HTMLElement | null)?.focus(), 50);
  };
  const save = async () => {
    setStep({ kind: 'review', busy: true });
    try {
      const a = await call(write!, { ...values, 'If-Match': base?.etag ?? '' }, text);
      setBase({ text: text!, etag: a.etag }); dirty.current = false; guard(() => dirty.current);
      setStep(undefined);
      say(typeof a.data?.Message === 'string' && !isID(a.data.Message) ? a.data.Message : fresh ? 'Created.' : 'Saved.');
      if (!fresh) { setRound(n => n + 1); refine(route, { view: 'read' }); return; }
      const plain = a.data && Object.keys(a.data).every(k => ['Status', 'Message', 'Meta', 'ID', 'status', 'message', 'id', 'action'].includes(k)), next = a.data?.ID ?? a.data?.id ?? a.data?._id ?? (typeof a.data?.Meta === 'string' ? a.data.Meta : isID(a.data?.Message) ? a.data.Message : idOf(a.data, r.facts));
      if (!plain && /key|secret|token/i.test(Object.keys(a.data ?? {}).concat(Object.keys(a.data?.Meta ?? {})).join())) { setStep({ kind: 'answer', data: a.data }); return; }
      go(next && read && may(read) ? to([r.name, String(next)], Object.fromEntries(pathParams(read).filter(p => p.name !== idParam(read)).map(p => [p.name, values[p.name]]))) : to([r.name]));
    } catch (e) { await refused(e as Problem); }
  };
  useEffect(() => {
    const on = (e: KeyboardEvent) => { if ((e.ctrlKey || e.metaKey) && e.key === 's') { e.preventDefault(); if (!editable) say('You may read this, not change it.'); else setTimeout(() => { if (dirty.current || fresh) latest.current(); else say('There is nothing to save.'); }); } };
    addEventListener('keydown', on);
    return () => removeEventListener('keydown', on);
  });
  if (fresh && !write) return <p>There is no way to make one here.</p>;
  const kind = r.facts.kind ?? (r.name.startsWith('apis.') ? 'api' : ''), told = !fresh && /^(api|policy|webhook|asset|clientidp)$/.test(kind) ? operations.get('history.list') : undefined;
  const take = (then: string, lost: string[]) => { setText(then); show('raw'); say(lost.length ? `Look at it, then save it. Secrets of then are hidden, and there are none today at ${lost.slice(0, 5).join(', ')}.` : 'Look at it, then save it.'); };
  const show = (v: string) => refine(route, { view: v }), form = view === 'form' || view === 'both';
  return <>
    <nav class="crumbs" aria-label="Where you are">{!single(r) && (!list || may(list) ? <a href={to([above], Object.fromEntries(pathParams(read ?? write!).filter(p => p.name !== mine).map(p => [p.name, values[p.name]])))}>{title}</a> : title)}</nav>
    <header class="page"><h1>{name}{dirty.current && <span class="badge"> unsaved</span>}</h1>
      <div class="bar">
        {(editable || fresh) && <div class="views" role="group" aria-label="How to show it">{!fresh && <button type="button" aria-pressed={view === 'read'} onClick={() => show('read')}>Read</button>}
          <button type="button" aria-pressed={form && view !== 'both'} onClick={() => show('form')}>Form</button><button type="button" aria-pressed={view === 'raw'} onClick={() => show('raw')}>Document</button><button type="button" class="widely" aria-pressed={view === 'both'} onClick={() => show('both')}>Both</button></div>}
        {told && may(told) && <button type="button" aria-pressed={view === 'history'} onClick={() => show('history')}>History</button>}
        {!fresh && <More r={r} id={id} text={text} values={values} onDelete={() => setStep({ kind: 'delete' })} read={read} />}
      </div></header>
    {!fresh && read && write && !may(write, id) && <p class="soft">You may read this. To change it you need {needs(write)}.</p>}
    {!fresh && !write && <p class="soft">This is written by the service, not by people.</p>}
    <Trouble p={fault} op={base ? write : read} retry={base ? undefined : () => setRound(n => n + 1)} />
    {!base && !fault && <Loading what={id} />}
    {base && text !== undefined && <form class={view === 'both' ? 'split' : ''} onSubmit={e => { e.preventDefault(); review(); }} noValidate>
      {view === 'read' && <section class="read">{tree && <Shown v={JSON.parse(text)} />}</section>}
      {form && <section class="form" aria-label="Form">{fresh && write!.notes && <p class="help">{write!.notes}</p>}{fresh && write!.example !== undefined && text === '{}' && <p><button type="button" onClick={() => setText(JSON.stringify(write!.example, null, 2))}>Start from the example</button></p>}
        {tree ? <Members schema={write?.body} node={tree} text={text} path={[]} edit={edit} fault={fault} depth={0} /> : <p class="wrong" role="alert">The document is not valid JSON. Mend it in the view “Document”.</p>}</section>}
      {(view === 'raw' || view === 'both') && <section class="raw"><DocumentEditor label={`Document of ${name}`} text={text} onChange={setText} /></section>}
      {view === 'history' && told && <HistoryOf kind={kind} id={id} now={base.text} take={editable ? take : undefined} key={'past' + round} />}
      {view !== 'read' && view !== 'history' && editable && <div class="actions sticky"><button class="primary" disabled={!fresh && !dirty.current}>{fresh ? 'Create…' : 'Review and save…'}</button>
        {!fresh && <button type="button" disabled={!dirty.current} onClick={() => setText(base.text)}>Discard changes</button>}
        <button type="button" onClick={() => copy(curl(ask(write!, { ...values, 'If-Match': base.etag ?? '' }, text)), 'The command')}>Copy as curl</button><span class="soft"><kbd>Ctrl</kbd> <kbd>S</kbd> saves</span></div>}
    </form>}
    {!fresh && view === 'read' && data?.['x-tyk-api-gateway'] && <Endpoints data={data} />}
    {!fresh && view === 'read' && /^(apis(\.oas|\.streams)?|mcps)$/.test(r.name) && base && <Surroundings r={r} id={id} data={data} key={'beside' + round} />}
    {!fresh && view === 'read' && r.name === 'users' && base && operations.get('users.sessions') && <section class="read"><h2>Sessions</h2><Sessions id={id} /></section>}
    {!fresh && view === 'read' && <References r={r} values={values} />}
    {step?.kind === 'review' && <Dialog title={fresh ? 'Create this?' : 'Save these changes?'} close={() => setStep(undefined)} wide>
      <Sides before={fresh ? '' : base!.text} after={tidy(text!)} />
      {step.busy ? <Loading what="what would change" /> : step.meta && <Rehearsed meta={step.meta} own={id} />}
      <div class="actions"><button type="button" class="primary" autoFocus disabled={step.busy} onClick={save}>{fresh ? 'Create' : 'Save'}</button><button type="button" onClick={() => setStep(undefined)}>Go on editing</button></div></Dialog>}
    {step?.kind === 'conflict' && <Conflict base={base!.text} mine={text!} theirs={step.theirs} close={() => setStep(undefined)} take={t => { setBase({ text: step.theirs, etag: step.etag }); setText(t); setStep(undefined); say('Look at the result, then save it.'); }} />}
    {step?.kind === 'delete' && <Delete r={r} name={name} id={id} values={{ ...values, 'If-Match': base?.etag ?? '' }} close={() => setStep(undefined)} done={() => { dirty.current = false; say(`${name} is deleted.`); go(to([r.name.startsWith('apis.') ? 'apis' : r.name])); }} />}
    {step?.kind === 'answer' && <Dialog title="Keep what the server answered" close={() => { setStep(undefined); go(to([r.name])); }}><p>It may be shown only this once.</p><pre class="answer">{JSON.stringify(step.data, null, 2)}</pre><div class="actions"><button type="button" class="primary" onClick={() => copy(JSON.stringify(step.data, null, 2), 'The answer')}>Copy</button></div></Dialog>}
  </>;
}

/** A record by its name, with the way to it. */
const Named = ({ kind, id, name }: { kind: string; id: string; name?: string }) => { const at = placeOf(kind, id); return at ? <a href={at}>{name || id}</a> : <strong>{name || id}</strong>; };

/** What else can be done with the record: all operations below its address. */
function More({ r, id, text, values, read, onDelete }: { r: Resource; id: string; text?: string; values: Record<string, string>; read?: Operation; onDelete: () => void }) {
  const shape = read?.path.replace(/\{[^}]+\}/g, '{}'), others = read ? [...operations.values()].filter(o => { const p = o.path.replace(/\{[^}]+\}/g, '{}'); return may(o) && (p.startsWith(shape + '/') || p === shape && !['get', 'replace', 'put', 'delete'].includes(o.id.slice(o.id.lastIndexOf('.') + 1))) && !o.id.endsWith('.references') && p !== '/api/apis/{}/{}'; }) : [];
  const mine = read && pathParams(read), fill = (o: Operation) => Object.fromEntries(pathParams(o).slice(0, mine?.length ?? 0).map((p, i) => [p.name, values[mine![i].name] ?? '']));
  const remove = r.operations.delete;
  return <details class="menu"><summary class="button">More</summary><div>
    {r.operations.create && may(r.operations.create) && <a href={to([r.name, '+new'], { from: id })}>Duplicate</a>}
    {text && <button type="button" onClick={() => download(`${r.name}-${id}.json`, text)}>Export as JSON</button>}
    {text && <button type="button" onClick={() => import('./yaml').then(m => download(`${r.name}-${id}.yaml`, m.toYAML(text), 'application/yaml'))}>Export as YAML</button>}
    {read && <button type="button" onClick={() => copy(curl(ask(read, values)), 'The command')}>Copy as curl</button>}
    {others.map(o => <a key={o.id} href={to(['run', o.id], fill(o))}>{o.summary}</a>)}
    {remove && may(remove) && <button type="button" class="danger" onClick={onDelete}>Delete…</button>}
  </div></details>;
}

function References({ r, values }: { r: Resource; values: Record<string, string> }) {
  const op = r.operations.references, [rows, set] = useState<any[]>(), [fault, setFault] = useState<Problem>();
  useEffect(() => { if (op && may(op)) call(op, values).then(a => set(Array.isArray(a.data) ? a.data : []), setFault); }, [r.name, JSON.stringify(values)]);
  if (!op || !may(op)) return null;
  return <section class="read"><h2>Used by</h2><Trouble p={fault} op={op} />{rows && (rows.length ? <ul>{rows.slice(0, 200).map((x, i) => <li key={i}>{x.kind} <Named kind={x.kind} id={x.id} name={x.name} /> at <code>{x.where}</code></li>)}</ul> : <p class="soft">Nothing refers to this.</p>)}</section>;
}

/** Says who is hit before anything is gone. */
function Delete({ r, name, id, values, close, done }: { r: Resource; name: string; id: string; values: Record<string, string>; close: () => void; done: () => void }) {
  const op = r.operations.delete, [meta, set] = useState<any>(), [fault, setFault] = useState<Problem>(), [busy, setBusy] = useState(op.rehearsable);
  useEffect(() => { if (op.rehearsable) call(op, { ...values, dry_run: 'true' }).then(a => { set(a.data?.Meta ?? {}); setBusy(false); }, e => { setFault(e); setBusy(false); }); }, []);
  const remove = async () => { setBusy(true); setFault(undefined); try { await call(op, values); close(); done(); } catch (e) { setFault(e as Problem); setBusy(false); } };
  return <Dialog title={`Delete ${name}?`} close={close}>
    {busy && !meta && op.rehearsable ? <Loading what="who would be hit" /> : meta && <Rehearsed meta={meta} own={id} />}
    {meta && !meta.references?.length && <p>Nothing else refers to it.</p>}
    <Trouble p={fault?.status === 412 ? { ...fault, detail: 'Somebody else changed this meanwhile. Close this, load the page again and look at it first.' } : fault} op={op} />
    <div class="actions"><button type="button" class="danger" disabled={busy} onClick={remove}>Delete</button><button type="button" autoFocus onClick={close}>Keep it</button></div></Dialog>;
}
