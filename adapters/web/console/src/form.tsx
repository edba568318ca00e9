import { useId, useState } from 'preact/hooks';
import { Node, Path, child, valueOf } from './doc';
import type { Problem } from './http';
import { Schema, resolve } from './spec';
import { isTime, label, Time } from './ui';

export type Edit = (path: Path, json: string | undefined, renamed?: string) => void;
type Props = { schema: Schema | undefined; node: Node | undefined; text: string; path: Path; edit: Edit; name?: string; required?: boolean; fault?: Problem; depth: number };

const typeOf = (s: Schema | undefined): string | undefined => Array.isArray(s?.type) ? s!.type.find((t: string) => t !== 'null') : s?.type ?? (s?.properties || s?.additionalProperties ? 'object' : undefined);
const kinds: Record<string, string> = { string: 'string', number: 'number', boolean: 'boolean', object: 'object', array: 'array' };
const many = 40;

/** Whether a problem's field is this one. Servers name it by path or by its last name. */
const faulty = (p: Props) => {
  const f = p.fault?.field?.replace(/^\//, '').replace(/\//g, '.');
  return f && (f === p.path.join('.') || f === String(p.path[p.path.length - 1])) ? p.fault!.detail : '';
};

/** One field of a document: a plain control where the value is plain. The schema says what may be there, the document what is. */
export function Field(p: Props) {
  const s = resolve(p.schema) as Schema | undefined, is = p.node && kinds[p.node.kind], id = useId();
  const type = is && is !== typeOf(s) && !(is === 'number' && typeOf(s) === 'integer') ? is : typeOf(s) ?? is ?? 'string';
  const name = p.name ?? label(String(p.path[p.path.length - 1] ?? '')), wrong = faulty(p), help = wrong || s?.description;
  const control = { id, required: p.required, 'aria-invalid': wrong ? true : undefined, 'aria-describedby': help ? id + '-help' : undefined };
  const note = help && <p id={id + '-help'} class={wrong ? 'wrong' : 'help'}>{help}</p>;
  const wrap = (c: any) => <div class="field"><label for={id}>{name}{p.required && <span class="must"> required</span>}</label>{c}{note}</div>;
  const set = (json: string | undefined) => p.edit(p.path, json);
  const value = valueOf(p.text, p.node?.kind === 'object' || p.node?.kind === 'array' ? undefined : p.node);
  if (s?.readOnly) return wrap(<output id={id} class="kept">{String(value ?? '—')}</output>);
  if (s?.enum && (value === undefined || value === null || typeof value === 'string')) {
    const all: string[] = s.enum.includes(value ?? '') ? s.enum : [value ?? '', ...s.enum];
    return wrap(<select {...control} value={value ?? ''} onChange={(e: any) => set(e.target.value ? JSON.stringify(e.target.value) : undefined)}>{all.map(v => <option key={v} value={v}>{v || '(not set)'}</option>)}</select>);
  }
  switch (type) {
    case 'string': {
      const secret = s?.writeOnly || s?.format === 'password', text = typeof value === 'string' ? value : '';
      const on = (e: any) => set(e.target.value === '' && !p.node ? undefined : JSON.stringify(e.target.value));
      if (text.includes('\n') || text.length > 200) return wrap(<textarea {...control} rows={Math.min(12, text.split('\n').length + 1)} value={text} onInput={on} />);
      return wrap(<><input {...control} type={secret ? 'password' : 'text'} autoComplete={secret ? 'new-password' : 'off'} spellcheck={false} maxLength={s?.maxLength} value={text} onInput={on} />{isTime(text) && <span class="soft"><Time at={text} /></span>}</>);
    }
    case 'integer': case 'number': {
      const raw = p.node ? p.node.kind === 'number' ? p.text.slice(p.node.from, p.node.to) : '' : '';
      return wrap(<input {...control} type="number" min={s?.minimum} max={s?.maximum} step={type === 'integer' ? 1 : 'any'} value={raw} onInput={(e: any) => { const v: string = e.target.value; if (v === '') set(undefined); else if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(v)) set(v); }} />);
    }
    case 'boolean':
      return <div class="field check"><input {...control} required={false} type="checkbox" checked={value === true} onChange={(e: any) => set(String(e.target.checked))} /><label for={id}>{name}</label>{note}</div>;
    case 'array': return <List {...p} schema={s} name={name} note={note} />;
    case 'object': return <Group {...p} schema={s} name={name} note={note} />;
  }
  return wrap(<span class="soft">null</span>);
}

/** The members of an object: those that the schema knows, then those that only the document has. */
export function Members(p: Props) {
  const s = resolve(p.schema) as Schema | undefined, known = Object.entries<any>(s?.properties ?? {}), more = s?.additionalProperties;
  const ordered = known.some(([, v]) => v['x-order'] !== undefined) ? known.sort((a, b) => (a[1]['x-order'] ?? 1e9) - (b[1]['x-order'] ?? 1e9)) : known;
  const must = new Set<string>(s?.required ?? []);
  ordered.sort((a, b) => +must.has(b[0]) - +must.has(a[0]));
  const others = [...new Set(p.node?.members?.map(m => m.key).filter(k => !s?.properties?.[k]) ?? [])], [all, setAll] = useState(false);
  const closed = known.length > 0 && more === undefined && p.depth === 0;
  return <>
    {ordered.filter(([, v]) => !resolve(v)?.readOnly || p.node).map(([k, v]) => <Field key={k} {...p} name={undefined} schema={v} path={[...p.path, k]} node={child(p.node, k)} required={must.has(k)} depth={p.depth + 1} />)}
    {closed && others.length > 0 && <dl class="kept" aria-label="Kept by the server">{others.map(k => <div key={k}><dt>{label(k)}</dt><dd>{shortly(p.text, child(p.node, k))}</dd></div>)}</dl>}
    {!closed && others.slice(0, all ? undefined : many).map(k => known.length === 0 && typeof more === 'object' ? null
      : <Field key={k} {...p} name={undefined} schema={typeof more === 'object' ? more : undefined} path={[...p.path, k]} node={child(p.node, k)} required={false} depth={p.depth + 1} />)}
    {!closed && others.length > many && !all && !(known.length === 0 && typeof more === 'object') && <button type="button" onClick={() => setAll(true)}>Show all {others.length} members</button>}
    {known.length === 0 && typeof more === 'object' && <Keyed {...p} schema={s} />}
  </>;
}

const shortly = (text: string, n: Node | undefined) => {
  if (n?.members || n?.items) return `${(n.members ?? n.items)!.length} entries`;
  const v = String(valueOf(text, n) ?? '—');
  return isTime(v) ? <Time at={v} /> : v || '—';
};

function Group(p: Props & { name: string; note: any }) {
  const s = p.schema, size = (p.node?.members?.length ?? 0), [open, setOpen] = useState(p.depth <= 1 && size > 0 && size <= 12 || !!p.fault?.field?.startsWith(p.path.join('.') + '.'));
  return <details class="group" open={open} onToggle={(e: any) => setOpen(e.currentTarget.open)}>
    <summary>{p.name}{p.required && <span class="must"> required</span>} <span class="soft">{p.node?.kind === 'null' ? 'null' : size ? `${size} ${size === 1 ? 'entry' : 'entries'}` : 'empty'}</span></summary>
    {open && <>{p.note}<Members {...p} schema={s} /></>}
  </details>;
}

/** An object whose member names people choose: scope → policy, header → value. */
function Keyed(p: Props) {
  const of = resolve((p.schema as any).additionalProperties) as Schema, rows = p.node?.members ?? [], [all, setAll] = useState(false);
  const empty = typeOf(of) === 'object' ? '{}' : typeOf(of) === 'array' ? '[]' : typeOf(of) === 'boolean' ? 'false' : typeOf(of) === 'integer' || typeOf(of) === 'number' ? '0' : '""';
  const add = () => { let name = 'new'; for (let i = 2; rows.some(r => r.key === name); i++) name = `new-${i}`; p.edit([...p.path, name], empty); };
  return <div class="keyed">
    {rows.slice(0, all ? undefined : many).map((m, i) => <div class="entry" key={i}>
      <Name value={m.key} taken={k => rows.some(r => r.key === k)} label={`Name of entry ${i + 1}`} onChange={k => p.edit([...p.path, m.key], undefined, k)} />
      <Field {...p} schema={of} path={[...p.path, m.key]} node={m.node} name={m.key || '(no name)'} required={false} depth={p.depth + 1} />
      <button type="button" class="quiet" aria-label={`Remove ${m.key}`} onClick={() => p.edit([...p.path, m.key], undefined)}>Remove</button>
    </div>)}
    {rows.length > many && !all && <button type="button" onClick={() => setAll(true)}>Show all {rows.length} entries</button>}
    <button type="button" onClick={add}>Add an entry</button>
  </div>;
}

/** Names change when the field is left: every letter on the way would be a member of its own. */
function Name(p: { value: string; taken: (k: string) => boolean; label: string; onChange: (k: string) => void }) {
  const [now, set] = useState<string>();
  const twice = now !== undefined && now !== p.value && p.taken(now);
  return <div class="name"><input aria-label={p.label} aria-invalid={twice || undefined} spellcheck={false} value={now ?? p.value} onInput={(e: any) => set(e.target.value)} onBlur={() => { if (now !== undefined && now !== p.value && !twice) p.onChange(now); set(undefined); }} onKeyDown={(e: any) => { if (e.key === 'Enter') { e.preventDefault(); e.target.blur(); } }} />{twice && <p class="wrong">Another entry has this name.</p>}</div>;
}

function List(p: Props & { name: string; note: any }) {
  const of = resolve((p.schema as any)?.items) as Schema | undefined, items = p.node?.items ?? [], id = useId(), [open, setOpen] = useState(p.depth <= 1 && items.length > 0 && items.length <= 4), [all, setAll] = useState(false);
  const plain = items.every(i => i.kind === 'string' && !(i.value as string).includes('\n')) && (typeOf(of) ?? 'string') === 'string' && !of?.enum;
  if (plain) {
    const lines = items.map(i => i.value as string).join('\n');
    return <div class="field"><label for={id}>{p.name}{p.required && <span class="must"> required</span>} <span class="soft">one on each line</span></label>
      <Lines id={id} value={lines} onChange={v => { const l = v.split('\n').filter(Boolean); p.edit(p.path, l.length || p.node ? list(l) : undefined); }} />{p.note}</div>;
  }
  const empty = typeOf(of) === 'object' || !of && items[0]?.kind === 'object' ? '{}' : typeOf(of) === 'integer' || typeOf(of) === 'number' ? '0' : typeOf(of) === 'boolean' ? 'false' : '""';
  return <details class="group" open={open} onToggle={(e: any) => setOpen(e.currentTarget.open)}><summary>{p.name} <span class="soft">{items.length} {items.length === 1 ? 'item' : 'items'}</span></summary>
    {open && <>{p.note}{items.slice(0, all ? undefined : many).map((n, i) => <div class="entry" key={i}>
      <Field {...p} schema={of} path={[...p.path, i]} node={n} name={`${p.name} ${i + 1}`} required={false} depth={p.depth + 1} />
      <button type="button" class="quiet" aria-label={`Remove item ${i + 1} of ${p.name}`} onClick={() => p.edit([...p.path, i], undefined)}>Remove</button>
    </div>)}
    {items.length > many && !all && <button type="button" onClick={() => setAll(true)}>Show all {items.length} items</button>}
    <button type="button" onClick={() => p.edit(p.node ? [...p.path, items.length] : p.path, p.node ? empty : `[${empty}]`)}>Add an item</button></>}
  </details>;
}

const list = (l: string[]) => l.length ? '[\n  ' + l.map(x => JSON.stringify(x)).join(',\n  ') + '\n]' : '[]';

/** Keeps empty lines while somebody types. */
function Lines(p: { id: string; value: string; onChange: (v: string) => void }) {
  const [now, set] = useState<string>();
  const shown = now !== undefined && now.split('\n').filter(Boolean).join('\n') === p.value ? now : p.value;
  return <textarea id={p.id} rows={Math.min(8, shown.split('\n').length + 1)} spellcheck={false} value={shown} onInput={(e: any) => { set(e.target.value); p.onChange(e.target.value); }} />;
}
