// What the server can do, as its description says. There is no second list.
import { Ask, Answer, send } from './http';

export type Schema = { [k: string]: any };
export type Parameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; description?: string; schema: Schema };
/** An entry of the permission map, and at least which level of it. */
export type Right = { group: string; level: string };
export type Operation = {
  id: string; method: string; path: string; summary: string; notes: string; tag: string; parameters: Parameter[];
  body?: Schema; bodies: string[]; example?: unknown; answer?: Schema; callers: string[]; group: string; level: string; own?: string; also: Right[]; rehearsable: boolean; list?: Listing;
};
/** What the description says of a list (docs/console.md#lists). */
export type Listing = {
  items: string; page?: { parameter: string; everything?: string; pages?: string };
  filters?: { parameter: string; by: string; members?: string[] }[]; sort?: { parameter: string; values: { value: string; member: string; descending?: boolean }[] };
};
/** What the description says of a resource (docs/console.md#resources). */
export type Facts = { name: string; kind?: string; id?: string; label?: string; parameter?: string; links?: { member: string; kind: string; resource?: string; key?: boolean }[] };
export type Resource = { name: string; title: string; tag: string; operations: Record<string, Operation>; facts: Facts };
export type Me = { id: string; org_id: string; email_address: string; first_name: string; last_name: string; user_permissions: Record<string, string> };

let root: any, me: Me | undefined;
export const operations = new Map<string, Operation>(), resources = new Map<string, Resource>();
export const setMe = (m: Me | undefined) => { me = m; };
export const whoami = () => me;

export function resolve(s: any): any {
  for (let i = 0; i < 20 && s; i++) {
    if (s.$ref) { const { $ref, ...more } = s; s = { ...$ref.slice(2).split('/').reduce((at: any, k: string) => at?.[k.replace(/~1/g, '/').replace(/~0/g, '~')], root), ...more }; continue; }
    const choices = (s.anyOf ?? s.oneOf)?.filter((c: any) => c.type !== 'null' && Object.keys(c).length);
    if (choices?.length !== 1) return s;
    const { anyOf, oneOf, ...more } = s;
    s = { ...choices[0], ...more };
  }
  return s;
}

/** Reads the description. Only what a user of the organisation may be allowed to do is of interest. */
export async function describe(): Promise<void> {
  root = (await send({ method: 'GET', path: '/api/openapi.json' })).data;
  operations.clear(); resources.clear();
  for (const [path, methods] of Object.entries<any>(root.paths)) {
    if (!path.startsWith('/api/')) continue;
    for (const [method, o] of Object.entries<any>(methods)) if (o?.operationId) add(path, method, o);
  }
  for (const f of root['x-resources'] ?? []) { const r = resources.get(f.name); if (r && f.surface === 'management') r.facts = f; }
  for (const r of resources.values()) r.title = titled(r);
}

function add(path: string, method: string, o: any) {
  if (!Object.keys(o.responses ?? {}).some(status => status < '400')) return; // it does nothing but refuse
  const cut = o.operationId.lastIndexOf('.'), name = o.operationId.slice(0, cut), verb = o.operationId.slice(cut + 1);
  const content = resolve(o.requestBody)?.content ?? {}, json = content['application/json'], ok = resolve(o.responses?.['200'] ?? o.responses?.['201']);
  const x = o['x-permission'] ?? {};
  const parameters: Parameter[] = (o.parameters ?? []).map(resolve);
  const op: Operation = {
    id: o.operationId, method: method.toUpperCase(), path, summary: o.summary ?? o.operationId, tag: o.tags?.[0] ?? name, parameters,
    notes: (o.description ?? '').replace(/\n*Permission: .*$/s, ''), body: json?.schema ?? (Object.keys(content).length ? Object.values<any>(content)[0].schema : undefined), bodies: Object.keys(content), example: json?.example,
    answer: resolve(ok)?.content?.['application/json']?.schema, callers: x.callers ?? ['user'], group: x.group ?? '', level: x.level ?? '', own: x.own, also: (x.needs ?? []).filter((n: any) => !n.parameters?.length),
    rehearsable: !!o['x-rehearsable'] || parameters.some(p => p.name === 'dry_run'), list: o['x-list'],
  };
  operations.set(op.id, op);
  const r: Resource = resources.get(name) ?? { name, title: op.tag, tag: op.tag, operations: {}, facts: { name } };
  r.operations[verb] = op;
  resources.set(name, r);
}

const titled = (r: Resource) => {
  const s = listOf(r)?.summary.replace(/^(List or download|List|Search) (the )?/, '').replace(/(,| (and what|that|with their|of gateways|for)) .*$/, '');
  return s ? s[0].toUpperCase() + s.slice(1) : r.operations.get?.summary.replace(/^(Fetch|Read) (an? |the )?/, '').replace(/^./, c => c.toUpperCase()) ?? r.tag;
};

/** The operation that lists a resource. Where there is a search that also pages, it knows more. */
export function listOf(r: Resource): Operation | undefined {
  const o = r.operations, list = o.list ?? o.detailed, search = o.search ?? o['search.url'];
  if (!list) return undefined;
  return search?.method === 'GET' && !has(list, 'q') && has(search, 'p') && !search.path.includes('{') ? { ...search, summary: list.summary } : list;
}
export const has = (o: Operation, name: string) => o.parameters.some(p => p.in === 'query' && p.name === name);
export const pathParams = (o: Operation) => o.parameters.filter(p => p.in === 'path');
/** The placeholder of the record itself: the last one of its address. */
export const idParam = (o: Operation) => /\{([^}]+)\}[^{]*$/.exec(o.path)?.[1];
/** Whether an operation takes a file, and nothing but a file. */
export const uploads = (o: Operation) => o.bodies.includes('multipart/form-data') && !o.bodies.includes('application/json');
export const writeOf = (r: Resource) => r.operations.replace ?? r.operations.put;
/** A resource of which there is one: no identifier, no list. */
export const single = (r: Resource) => !listOf(r) && !!r.operations.get && !!r.operations.replace && pathParams(r.operations.get).length === 0;

const rank: Record<string, number> = { read: 1, write: 2, admin: 3 };
const holds = ({ group, level }: Right) => { const p = me?.user_permissions ?? {}; return !group || group === '*' || p.IsAdmin === 'admin' || (rank[p[group]] ?? 0) >= rank[level]; };
const right = (o: Operation): Right => ({ group: o.group, level: o.level in rank ? o.level : o.method === 'GET' ? 'read' : 'write' });
/** Whether the caller's permissions allow an operation, of one record if it is named. The server decides; this only keeps useless offers away. */
export function may(o: Operation | undefined, id?: string): boolean {
  if (!o || !o.callers.some(c => c === 'user' || c === 'anybody')) return false;
  return (holds(right(o)) || !!o.own && id === me?.id) && o.also.every(holds);
}
/** The first permission that the caller lacks for an operation; the one it is listed under if the caller has all. */
export const needs = (o: Operation) => {
  const of = [right(o), ...o.also].find(r => !holds(r)) ?? right(o);
  return of.group === 'IsAdmin' ? 'the rights of an admin' : `the permission ${of.group} (${of.level})`;
};

/** A call of an operation. Values that are empty are not sent. */
export function ask(o: Operation, values: Record<string, string> = {}, body?: string | FormData): Ask {
  const query: [string, string][] = [], headers: Record<string, string> = {};
  let path = o.path;
  for (const p of o.parameters) {
    const v = values[p.name];
    if (p.in === 'path') path = path.replace(`{${p.name}}`, encodeURIComponent(v ?? ''));
    else if (v === undefined || v === '') continue;
    else if (p.in === 'query') query.push([p.name, v]);
    else headers[p.name] = v;
  }
  return { method: o.method, path, query, headers, body };
}
export const call = (o: Operation, values?: Record<string, string>, body?: string | FormData): Promise<Answer> => send(ask(o, values, body));

const through = (v: any, path: string) => path.split('.').reduce((at, k) => at?.[k], v);
/** The first array of an object, or of the objects in it. */
const firstArray = (v: any, is: (x: any) => boolean, inside: (x: any) => any[]): any => inside(v).find(is) ?? inside(v).flatMap(x => is(x) ? [] : inside(x)).find(is);
const within = (v: any): any[] => typeof v === 'object' ? Object.values(v ?? {}) : [], members = (s: any): any[] => Object.values(s?.properties ?? {}).map(resolve), listed = (s: any) => s?.type === 'array';
/** The rows of a list. Where the description does not say: an array, or the first one inside. */
export function rowsOf(data: any, o?: Operation): any[] {
  const said = o?.list && (o.list.items ? through(data, o.list.items) : data);
  if (Array.isArray(said)) return said;
  return Array.isArray(data) ? data : firstArray(data, Array.isArray, within) ?? [];
}
export const pagesOf = (data: any, o: Operation): number => Number((o.list?.page?.pages ? through(data, o.list.page.pages) : undefined) ?? data?.pages ?? data?.Pages ?? 1) || 1;
/** The query parameter for a page, and its value for all of them. */
export const pageOf = (o: Operation) => o.list?.page ?? (has(o, 'p') ? { parameter: 'p', everything: '-1' } : undefined);
export function itemSchema(o: Operation): Schema | undefined {
  const s = resolve(o.answer);
  return resolve((listed(s) ? s : firstArray(s, listed, members))?.items);
}

/** What documents of APIs say to people in a list. */
const ofDocument = (row: any, x: any) => ({ ...row, name: x.info?.name ?? row.info?.title, id: x.info?.id, active: x.info?.state?.active, listen_path: x.server?.listenPath?.value, upstream_url: x.upstream?.url });
/** What a row is to people: definitions of APIs stand one level deeper. */
export const flat = (row: any): any => row?.['x-tyk-api-gateway'] ? ofDocument(row, row['x-tyk-api-gateway']) : row?.api_definition ? { ...row, ...row.api_definition } : row?.data?.access_rights ? { ...row.data, ...row } : typeof row === 'object' && row ? row : { id: String(row) };
const ids = ['id', '_id', 'api_id', 'client_idp_id', 'key_id', 'key_hash', 'client_id', 'feed', 'location', 'node_id', 'name'], names = ['name', 'title', 'email_address', 'client_name', 'alias', 'feed', 'hostname', 'action', 'id'];
const first = (row: any, keys: string[]) => { for (const k of keys) { const v = row?.[k]; if (v !== undefined && v !== null && v !== '' && typeof v !== 'object') return String(v); } return ''; };
export const idOf = (row: any, f?: Facts): string => String((f?.id && through(row, f.id)) || (row?.api_definition ? first(row.api_definition, ['api_id', 'id']) : first(flat(row), ids)));
export const nameOf = (row: any, f?: Facts): string => String((f?.label && through(row, f.label)) || row?.['x-tyk-api-gateway']?.info?.name || row?.info?.title || first(flat(row), names));
/** Where a row is edited: an API that has a document is written by its document. */
export function homeOf(r: Resource, row: any): string {
  if (r.name !== 'apis' || !row?.api_definition?.is_oas) return r.name;
  return row.oas?.['x-tyk-streaming'] ? 'apis.streams' : 'apis.oas';
}

/** Where a record is shown that a reference names by its kind. */
export function placeOf(kind: string, id: string): string | undefined {
  const r = [...resources.values()].find(r => r.facts.kind === kind) ?? resources.get(kind + 's') ?? resources.get(kind.replace(/y$/, 'ies'));
  return r?.operations.get && may(r.operations.get) ? `#/${encodeURIComponent(r.name)}/${encodeURIComponent(id)}` : undefined;
}

/** Pages made by hand that show one record, where the caller may see it. */
export const rightsOf = (policy: string) => placeOf('policy', policy)?.replace(/^#\/policies\//, '#/rights/');
export const mappingsOf = (kind: string, id: string) => { const at = placeOf(kind, id); return kind === 'clientidp' ? at?.replace(/^#\/clientidps\//, '#/registry/') : at; };
