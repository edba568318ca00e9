// Pages on which people change something as a document: loaded when the first of them is opened.
import './shared';
export { RecordPage } from './record';
export { RunPage } from './run';
export { ImportPage } from './import';
export { RulesPage } from './rules';
export { RegistryPage } from './registry';
export { PeoplePage } from './people';
