// Lists of every resource, and the trail: loaded when the first of them is opened.
import './shared';
export { ListPage } from './list';
export { AuditPage, AuditRecord } from './audit';
