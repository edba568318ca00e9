package credential

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Bearer is the developer and app of a key, for its session.
type Bearer struct {
	App          table.ID
	Name         string // of the app
	Developer    table.ID
	Organisation table.ID
	Teams        []table.ID
	Names        []Entry // additional data that administrators have switched on
}

// Entry is a member of a key's metadata: a text, or a list of texts.
type Entry struct {
	Name  string
	Text  string
	Texts []string // instead of Text, when it is not nil
}

// Prefixes of tags; gateways label their measurements with them.
const (
	AppTag          = "portal-app-"
	OrganisationTag = "portal-org-"
)

// Policies returns the policies of products and of a plan in the order in which gateways apply
// them.
func Policies(products []string, plan string) []string {
	return slices.DeleteFunc(append(slices.Clone(products), plan), func(id string) bool { return id == "" })
}

// Session returns the session of a key for an app (docs/wire/portal-apps.md#session).
func Session(b Bearer, org string, policies []string, expires time.Time) *doc.Node {
	s := doc.NewObject()
	s.Set("apply_policies", doc.NewStrings(policies))
	if org != "" {
		s.Set("org_id", doc.NewString(org))
	}
	s.Set("expires", doc.NewInt(Unix(expires)))
	s.Set("alias", doc.NewString(fmt.Sprintf("%s (%s)", b.Name, b.App)))
	s.Set("meta_data", b.MetaData())
	s.Set("tags", doc.NewStrings([]string{AppTag + b.App.String(), OrganisationTag + b.Organisation.String()}))
	return s
}

// MetaData returns the metadata of keys and clients about their developer.
func (b Bearer) MetaData() *doc.Node {
	m := doc.NewObject()
	m.Set("DeveloperID", doc.NewInt(int64(b.Developer)))
	m.Set("ApplicationID", doc.NewInt(int64(b.App)))
	m.Set("OrganisationID", doc.NewInt(int64(b.Organisation)))
	m.Set("TeamIDs", doc.NewArray())
	for _, t := range b.Teams {
		m.Get("TeamIDs").Append(doc.NewInt(int64(t)))
	}
	for _, e := range b.Names {
		if slices.Contains(attribute.Reserved, e.Name) { // an attribute of an earlier version
			continue
		}
		if e.Texts != nil {
			m.Set(e.Name, doc.NewStrings(e.Texts))
		} else {
			m.Set(e.Name, doc.NewString(e.Text))
		}
	}
	return m
}

// Unix returns a time in the form of keys: Unix seconds; 0: never.
func Unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// After returns when a credential with a lifetime in seconds ends; 0 seconds: never.
func After(now time.Time, seconds int64) time.Time {
	if seconds <= 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(seconds) * time.Second).UTC().Truncate(time.Second)
}
