package operation

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Need is a permission that a row wants besides its own.
type Need struct {
	Permission access.Permission
	Intent     access.Intent
	Params     []string // query parameters any of which brings the need about; none: it is always there
}

// CodeNeeds begins the code of the fault for a need that is not met; the rest is
// the permission, so that a row can answer with words of its own.
const CodeNeeds = "auth.needs."

// AnyUser lets every user of the organisation call, whatever groups of
// permissions the user has.
func AnyUser() Option { return func(s *Spec) { s.Permission = access.AnyUser } }

// Admins lets admins call, and no others, whatever the group of the row wants.
func Admins() Option { return func(s *Spec) { s.Permission = access.IsAdmin } }

// Wants lets call who has p, in place of the permission that the group of the row wants.
func Wants(p access.Permission) Option { return func(s *Spec) { s.Permission = p } }

// Own lets callers do to themselves what the row is for, whatever their permissions:
// the path parameter is the user's ID. Rules that decide in place of the permission
// map see the path, and decide about that too.
func Own(param string) Option { return func(s *Spec) { s.Own = param } }

// OwnBusiness reports whether a call is one of a row with Own, about the caller.
func OwnBusiness(c *Call) bool {
	return c.Spec.Own != "" && c.Principal.ID != "" && c.Path[c.Spec.Own] == c.Principal.ID
}

// Needs wants one more permission: always, or when one of the query parameters is
// given.
func Needs(p access.Permission, i access.Intent, params ...string) Option {
	return func(s *Spec) { s.Needs = append(s.Needs, Need{p, i, params}) }
}

// Arises reports whether a call brings the need about.
func (n Need) Arises(c *Call) bool {
	return len(n.Params) == 0 || slices.ContainsFunc(n.Params, func(name string) bool { return c.Query.Get(name) != "" })
}

// Unmet returns the fault for the first need of a call that its principal does
// not meet, or nil.
func Unmet(c *Call) error {
	for _, n := range c.Spec.Needs {
		if n.Arises(c) && !c.Principal.Permissions.Allows(n.Permission, n.Intent) {
			// Two blanks before the path: docs/wire/errors.md#standard-errors.
			return fault.New(fault.Denied, CodeNeeds+string(n.Permission), "access denied: You do not have permission to access  %s", c.RawPath)
		}
	}
	return nil
}
