// Documents are texts. A form edits the text where a member stands and touches nothing else, so that the order of
// members, members that no form knows, and the spelling of numbers stay as their writer left them.

export type Node = {
  kind: 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';
  from: number; to: number;
  value?: string | boolean | null; // of a scalar; a number keeps its spelling
  members?: Member[]; items?: Node[];
};
export type Member = { key: string; from: number; keyTo: number; node: Node };
export type Path = (string | number)[];

export class Malformed extends Error {
  constructor(readonly at: number, why: string, text: string) {
    const before = text.slice(0, at).split('\n');
    super(`line ${before.length}, column ${before[before.length - 1].length + 1}: ${why}`);
  }
}

const space = /[ \t\r\n]*/y, number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const deepest = 400;

export function parse(text: string): Node {
  let at = 0;
  const skip = () => { space.lastIndex = at; space.test(text); at = space.lastIndex; };
  const fail = (why: string): never => { throw new Malformed(at, why, text); };
  const scan = (r: RegExp, what: string): string => {
    r.lastIndex = at;
    const m = r.exec(text);
    if (!m) return fail(`expected ${what}`);
    at = r.lastIndex;
    return m[0];
  };
  const value = (depth: number): Node => {
    if (depth > deepest) fail(`more than ${deepest} levels`);
    const from = at, c = text[at];
    if (c === '{') {
      const members: Member[] = [];
      at++; skip();
      if (text[at] !== '}') for (;;) {
        const start = at, key = JSON.parse(scan(string, 'a member name in double quotes')) as string, keyTo = at;
        skip();
        if (text[at] !== ':') fail('expected :');
        at++; skip();
        members.push({ key, from: start, keyTo, node: value(depth + 1) });
        skip();
        if (text[at] === '}') break;
        if (text[at] !== ',') fail('expected , or }');
        at++; skip();
      }
      at++;
      return { kind: 'object', from, to: at, members };
    }
    if (c === '[') {
      const items: Node[] = [];
      at++; skip();
      if (text[at] !== ']') for (;;) {
        items.push(value(depth + 1));
        skip();
        if (text[at] === ']') break;
        if (text[at] !== ',') fail('expected , or ]');
        at++; skip();
      }
      at++;
      return { kind: 'array', from, to: at, items };
    }
    if (c === '"') { const s = JSON.parse(scan(string, 'a text')) as string; return { kind: 'string', from, to: at, value: s }; }
    for (const [word, v] of [['true', true], ['false', false], ['null', null]] as const) {
      if (text.startsWith(word, at)) { at += word.length; return { kind: v === null ? 'null' : 'boolean', from, to: at, value: v }; }
    }
    scan(number, 'a value');
    return { kind: 'number', from, to: at };
  };
  skip();
  const root = value(0);
  skip();
  if (at < text.length) fail('nothing may follow the document');
  return root;
}

/** The member or item of a node. Of members with one name the last counts, as it does for servers. */
export function child(n: Node | undefined, key: string | number): Node | undefined {
  if (typeof key === 'number') return n?.items?.[key];
  for (let i = (n?.members?.length ?? 0) - 1; i >= 0; i--) if (n!.members![i].key === key) return n!.members![i].node;
  return undefined;
}

export const find = (n: Node | undefined, path: Path): Node | undefined => path.reduce<Node | undefined>(child, n);

/** What a node means. Numbers lose their spelling: for showing and comparing, never for writing back. */
export function valueOf(text: string, n: Node | undefined): any {
  switch (n?.kind) {
    case undefined: return undefined;
    case 'object': { const out: any = Object.create(null); for (const m of n!.members!) out[m.key] = valueOf(text, m.node); return out; }
    case 'array': return n.items!.map(i => valueOf(text, i));
    case 'number': return Number(text.slice(n.from, n.to));
    default: return n!.value;
  }
}

const lineIndent = (text: string, at: number) => /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1, at))![0];
const indented = (json: string, by: string) => json.replace(/\n/g, '\n' + by);
const spread = (text: string, n: Node) => text.slice(n.from, n.to).includes('\n');

/** Puts JSON at a path, or with undefined takes away what is there. Everything else stays, byte for byte. */
export function put(text: string, path: Path, json: string | undefined): string {
  if (path.length === 0) return json ?? text;
  const root = parse(text), key = path[path.length - 1], holder = find(root, path.slice(0, -1));
  if (!holder || (typeof key === 'string' ? holder.kind !== 'object' : holder.kind !== 'array')) {
    if (json === undefined) return text;
    return put(text, path.slice(0, -1), typeof key === 'string' ? `{\n  ${JSON.stringify(key)}: ${indented(json, '  ')}\n}` : `[\n  ${indented(json, '  ')}\n]`);
  }
  const parts = holder.members?.map(m => ({ from: m.from, to: m.node.to })) ?? holder.items!.map(i => ({ from: i.from, to: i.to }));
  const i = typeof key === 'number' ? key : holder.members!.findLastIndex(m => m.key === key);
  if (i >= 0 && i < parts.length) {
    if (json !== undefined) {
      const n = typeof key === 'number' ? holder.items![i] : holder.members![i].node;
      return text.slice(0, n.from) + indented(json, lineIndent(text, n.from)) + text.slice(n.to);
    }
    if (parts.length === 1) return text.slice(0, holder.from + 1) + text.slice(holder.to - 1);
    return i === 0 ? text.slice(0, parts[0].from) + text.slice(parts[1].from) : text.slice(0, parts[i - 1].to) + text.slice(parts[i].to);
  }
  if (json === undefined) return text;
  const name = typeof key === 'string' ? JSON.stringify(key) + (spread(text, holder) || parts.length === 0 ? ': ' : ':') : '';
  if (parts.length === 0) {
    const by = lineIndent(text, holder.from);
    return text.slice(0, holder.from + 1) + `\n${by}  ${name}${indented(json, by + '  ')}\n${by}` + text.slice(holder.to - 1);
  }
  const last = parts[parts.length - 1], before = parts.length > 1 ? /\s*$/.exec(text.slice(0, last.from))![0] : text.slice(holder.from + 1, parts[0].from);
  return text.slice(0, last.to) + ',' + before + name + indented(json, before.split('\n').pop()!) + text.slice(last.to);
}

/** Gives a member another name. */
export function rename(text: string, path: Path, name: string): string {
  const holder = find(parse(text), path.slice(0, -1)), m = holder?.members?.findLast(m => m.key === path[path.length - 1]);
  return m ? text.slice(0, m.from) + JSON.stringify(name) + text.slice(m.keyTo) : text;
}

/** The same document with a member on each line. Scalars keep their spelling. */
export function pretty(text: string): string {
  const out: string[] = [];
  const write = (n: Node, by: string) => {
    const parts = n.members ?? n.items;
    if (!parts) { out.push(text.slice(n.from, n.to)); return; }
    const [open, close] = n.kind === 'object' ? '{}' : '[]';
    if (parts.length === 0) { out.push(open + close); return; }
    out.push(open);
    parts.forEach((p, i) => {
      out.push(i ? ',\n' : '\n', by, '  ');
      if ('node' in p) { out.push(text.slice(p.from, p.keyTo), ': '); write(p.node, by + '  '); } else write(p, by + '  ');
    });
    out.push('\n', by, close);
  };
  write(parse(text), '');
  return out.join('');
}

/** Whether two documents say the same. Order counts, and so does the spelling of numbers: writers may care. */
export function same(a: string, b: string): boolean {
  if (a === b) return true;
  try { return pretty(a) === pretty(b); } catch { return false; }
}
