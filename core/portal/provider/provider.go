// Package provider models the dashboards that a portal is connected with.
package provider

// Kind is the name of the resource in storage.
const Kind = "portal-provider"
