package access

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Groups are the permission groups of the product. Organisations cannot use their names for
// custom permissions.
var Groups = []Permission{
	APIs, MCP, Keys, Policies, OAuth, Certs, Assets, Hooks, Users, UserGroups, Analytics, Logs, IDM, Portal, System, AuditLogs,
	Governance, "websockets", "owned_analytics", IsAdmin, ResetPassword, AnyUser,
}

// CodeCustom is the code of faults in custom permissions.
const CodeCustom = "permissions.custom"

// Limits of custom permissions.
const (
	MaxCustom = 200
	maxName   = 64  // characters of a name
	maxLabel  = 200 // characters of a label
)

// CheckCustom returns a fault if an organisation cannot have these permissions, a map from
// name to label.
func CheckCustom(custom map[string]string) error {
	if len(custom) > MaxCustom {
		return fault.New(fault.Invalid, CodeCustom, "an organisation can have %d additional permissions; it would have %d", MaxCustom, len(custom)).At("additional_permissions")
	}
	for _, name := range slices.Sorted(maps.Keys(custom)) {
		label, field := custom[name], "additional_permissions."+name
		switch {
		case !readable(name, maxName) || name == "":
			return fault.New(fault.Invalid, CodeCustom, "the name of a permission must be one line of 1 to %d characters, without blanks at its ends", maxName).At("additional_permissions")
		case slices.ContainsFunc(Groups, func(g Permission) bool {
			return strings.EqualFold(name, string(g)) || strings.EqualFold(name, synonyms[g])
		}):
			return fault.New(fault.Invalid, CodeCustom, "the product has a permission %q: choose another name", name).At(field)
		case !readable(label, maxLabel):
			return fault.New(fault.Invalid, CodeCustom, "the label of %q must be one line of at most %d characters, without blanks at its ends", name, maxLabel).At(field)
		}
	}
	return nil
}

// Known reports whether a name is a permission of the product or a custom one of the
// organisation.
func Known(name string, custom map[string]string) bool {
	_, own := custom[name]
	return own || name != string(AnyUser) && (slices.Contains(Groups, Permission(name)) || slices.Contains(slices.Collect(maps.Values(synonyms)), name))
}

// readable reports whether a text can be shown in a list: printable and not too long.
func readable(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most && strings.TrimSpace(text) == text &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
