package sso

import "github.com/gatehouse-io/gatehouse/core/signon"

// Connection returns how to connect to the identity provider, or a fault with what the profile
// lacks.
func (p Profile) Connection() (signon.Connection, error) {
	return signon.Connect(p.Provider, p.Type, []byte(p.Config))
}

// Rules returns how claims are evaluated.
func (p Profile) Rules() signon.Rules {
	mapping, _ := p.groups()
	return signon.Rules{
		User: p.CustomUserIDField, Email: p.CustomEmailField, Domain: p.ProviderConstraintsDomain, Group: p.ProviderConstraintsGroup,
		Groups: p.CustomUserGroupField, Separator: p.GroupsSeparator, Mapping: mapping, Default: p.DefaultUserGroupID,
	}
}

// Person returns a person for whom the identity provider vouches. Of several teams the first
// one counts.
func (p Profile) Person(f signon.Found) Person {
	who := Person{Admin: p.ActionType == ForAdmins, Email: f.Email, Name: f.Name, Registered: p.OnlyRegistered}
	if who.Admin {
		return who
	}
	who.Key = f.Subject + "@" + p.Segment() + "/" + p.Ref
	if len(f.Groups) > 0 {
		who.Team = f.Groups[0]
	}
	return who
}
