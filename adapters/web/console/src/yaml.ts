// A file of its own: loaded when a document is shown as YAML, not before.
import './shared';
import { parseDocument, isAlias, isMap, isPair, isScalar, isSeq } from 'yaml';
import { Node, parse } from './doc';

const plain = /^[A-Za-z_/$][A-Za-z0-9_./$-]*(?: [A-Za-z0-9_./$-]+)*$/, word = /^(?:true|false|null|yes|no|on|off|y|n|~|\.inf|\.nan)$/i;
const scalar = (s: string) => plain.test(s) && !word.test(s) ? s : JSON.stringify(s);

/** A JSON document as YAML, with the same order and the same spelling of numbers. */
export function toYAML(text: string): string {
  const out: string[] = [];
  const write = (n: Node, by: string, inline: boolean) => {
    const parts = n.members ?? n.items;
    if (!parts) { out.push(n.kind === 'string' ? scalar(n.value as string) : text.slice(n.from, n.to), '\n'); return; }
    if (parts.length === 0) { out.push(n.kind === 'object' ? '{}\n' : '[]\n'); return; }
    parts.forEach((p, i) => {
      if (!(inline && i === 0)) out.push(by);
      const v = 'node' in p ? p.node : p, nested = (v.members ?? v.items)?.length;
      out.push('node' in p ? scalar(p.key) + ':' : '-');
      if (nested && 'node' in p) { out.push('\n'); write(v, by + '  ', false); } else { out.push(' '); write(v, by + '  ', true); }
    });
  };
  write(parse(text), '', false);
  return out.join('');
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** YAML as a JSON document. What JSON cannot say is refused with the reason. */
export function toJSON(yaml: string): string {
  const doc = parseDocument(yaml, { uniqueKeys: true, intAsBigInt: true });
  if (doc.errors.length) throw new Error(doc.errors[0].message.split('\n')[0]);
  let left = 200_000;
  const write = (n: any, by: string): string => {
    if (--left < 0) throw new Error('the document expands to more than 200,000 values');
    if (isAlias(n)) n = n.resolve(doc);
    if (isMap(n)) return n.items.length ? '{\n' + n.items.map(p => `${by}  ${JSON.stringify(keyOf(isPair(p) ? p.key : p))}: ${write(p.value, by + '  ')}`).join(',\n') + `\n${by}}` : '{}';
    if (isSeq(n)) return n.items.length ? '[\n' + n.items.map(i => by + '  ' + write(i, by + '  ')).join(',\n') + `\n${by}]` : '[]';
    if (!n || isScalar(n) && n.value === null) return 'null';
    if (isScalar(n)) {
      const v = n.value as any;
      if (typeof v === 'number' || typeof v === 'bigint') return n.source && number.test(n.source) ? n.source : String(v);
      if (typeof v === 'boolean') return String(v);
      return JSON.stringify(String(v));
    }
    throw new Error('the document has a value that JSON does not have');
  };
  return write(doc.contents, '');
}

const keyOf = (k: any): string => isScalar(k) ? String(k.source ?? k.value) : String(k);
