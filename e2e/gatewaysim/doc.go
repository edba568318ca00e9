// Package gatewaysim is a simulated API gateway that speaks the node protocol
// with a control plane: it registers, beats, pulls its feeds, listens to
// notifications and decides requests with what it has pulled. It exists to put
// a control plane under test, so it keeps the real gateway's unforgiving
// habits: one wrong type voids a feed, a null API definition ends the process,
// and a refused nonce or a broken connection in the middle of a load stops all
// loads for good.
//
// Its specification is docs/wire, which comments cite. The package is a client: it knows nothing of the control
// plane's code.
//
// # Use
//
// A test makes a [Gateway] with [New], starts it, waits with [Gateway.WaitFor]
// for a [State] and asks [Gateway.Decide] what a request would be answered, or
// serves [Gateway.Handler]. [NewIssuer] mints tokens for it. A Gateway can be
// started again after Stop or Kill, and is then a new process that has
// forgotten everything but its keys.
//
// # Local definitions
//
// Config.LocalAPIs and Config.LocalPolicies are appended to whatever the feeds
// return, so that the identity provider registry can be tested before the
// control plane serves any API. They make the loaded set non-empty: the
// gateway then calls /system/clientidps, which it skips while it has no APIs
// (docs/wire/feeds.md#apis).
//
// # Requests
//
// [Gateway.Decide] judges a credential alone. [Gateway.Handler] judges whole
// requests: the version of an OAS API, path lists, the paths, rates and quotas
// that policies give, and the rules for MCP tools, resources and prompts.
// [Gateway.Session] says what policies allow together, [Gateway.Webhooks] what
// an event of a loaded API would call. [NewMCPServer] is an upstream for MCP
// proxies.
//
// # Control API
//
// With Config.Secret the handler also serves the control API
// (docs/wire/gateway-control.md): keys, OAuth clients, certificates, limits of
// organisations. Gateways with the same [Store] share them, and Handler judges
// requests by them: tokens, basic auth, client credentials, client certificates.
// [Gateway.Misbehave] makes the control API fail in one of the ways of [Faults].
//
// # What it leaves out
//
// Nothing is proxied but allowed calls to MCP proxies: any other allowed request
// is answered by the gateway itself. Throttling, smoothing, rate limits of
// single endpoints, limits in API definitions, GraphQL, key-value substitution
// in feeds, the sending of events, analytics beyond a plain record of each request (Config.Records), limits of organisations, refresh
// tokens and the exchange of codes for tokens are not simulated. A decision knows one credential, so of several authentication
// methods of one API only JWT and keys are judged. Of an OAS document's JWT
// checks the issuer, audience and subject lists are judged, jti and custom
// claims are not. Of a versioned classic API the default version serves every
// request. Path lists match in full. Answers without a known text have
// the status alone as their meaning.
package gatewaysim
