// Pages that show what is: loaded when the first of them is opened.
import './shared';
export { GatewaysPage } from './gateways';
export { PoliciesPage } from './policies';
export { AnalyticsPage } from './analytics';
export { KeysPage } from './keys';
export { ClientsPage } from './clients';
export { CertificatesPage } from './certificates';
