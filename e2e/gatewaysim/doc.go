// Package gatewaysim is a simulated API gateway that speaks the node protocol with a control plane:
// it registers, sends heartbeats, pulls its feeds, subscribes to notifications and decides requests
// with the loaded configuration. It tests a control plane, so it reproduces the real gateway's
// strictness: one wrong type voids a feed, a null API definition ends the process, and a refused
// nonce or a broken connection in the middle of a load stops all loads for good.
//
// Its specification is docs/wire, which comments cite. The package is a client: it uses nothing of
// the control plane's code.
//
// # Use
//
// A test makes a [Gateway] with [New], starts it, waits with [Gateway.WaitFor] for a [State] and
// asks [Gateway.Decide] for the answer to a request, or serves [Gateway.Handler]. [NewIssuer] mints
// tokens for it. A Gateway can be started again after Stop or Kill, and is then a new process that
// keeps only its keys.
//
// # Local definitions
//
// Config.LocalAPIs and Config.LocalPolicies are appended to the feeds, so that the identity
// provider registry can be tested before the control plane serves any API. They make the loaded set
// non-empty: the gateway then calls /system/clientidps, which it skips while it has no APIs
// (docs/wire/feeds.md#apis).
//
// # Requests
//
// [Gateway.Decide] checks a credential alone. [Gateway.Handler] checks whole requests: the version
// of an OAS API, path lists, the paths, rates and quotas that policies give, and the rules for MCP
// tools, resources and prompts. [Gateway.Session] returns what policies allow together,
// [Gateway.Webhooks] the webhooks for an event of a loaded API. [NewMCPServer] is an upstream for
// MCP proxies.
//
// # Control API
//
// With Config.Secret the handler also serves the control API (docs/wire/gateway-control.md): keys,
// OAuth clients, certificates, limits of organisations. Gateways with the same [Store] share them,
// and Handler uses them for requests: tokens, basic auth, client credentials, client certificates.
// [Gateway.Misbehave] makes the control API fail in one of the ways of [Faults].
//
// # What it leaves out
//
// Only allowed calls to MCP proxies are proxied: the gateway itself answers other allowed requests.
// Throttling, smoothing, rate limits of single endpoints, limits in API definitions, GraphQL,
// key-value substitution in feeds, the sending of events, analytics beyond a plain record of each
// request (Config.Records), limits of organisations, refresh tokens and the exchange of codes for
// tokens are not simulated. A decision has one credential, so of several authentication methods of
// one API only JWT and keys are checked. Of an OAS document's JWT checks the issuer, audience and
// subject lists are checked, jti and custom claims are not. Of a versioned classic API the default
// version serves every request. Path lists match in full. Answers without a known text have the
// status alone as their meaning.
package gatewaysim
