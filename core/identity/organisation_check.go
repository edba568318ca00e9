package identity

import (
	"encoding/json"
	"maps"
	"net/mail"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

// Codes of the faults of organisations.
const (
	CodeOrganisationID    = OrganisationKind + ".id"
	CodeOrganisationField = OrganisationKind + ".invalid"
	CodeOrganisationSize  = OrganisationKind + ".too_large"

	CodeRules     = "rules.invalid" // a text that is not a rule set
	CodeRulesBusy = "rules.busy"    // a text that takes too long to check
)

// OrganisationFaults are the codes of the faults of a draft.
var OrganisationFaults = []string{CodeOrganisationID, CodeOrganisationField, CodeOrganisationSize, caps.Organisation.Kind + ".too_many", access.CodeCustom, CodeRules, CodeRulesBusy}

// maxOrganisation is the maximum size of an organisation as JSON, in bytes. Every request of
// its users reads the organisation, and a list shows all of them.
const maxOrganisation = 1 << 20

func (o Organisation) check() error {
	unfit := func(r rune) bool { // not allowed in a path, a key or a log line
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}
	if id := string(o.ID); id == "" || len(id) > 64 || strings.ContainsFunc(id, unfit) || strings.Trim(id, ".") == "" {
		return fault.New(fault.Invalid, CodeOrganisationID, "organisation id must be 1 to 64 letters, digits, '.', '_' or '-'").At("id")
	}
	for _, list := range []struct {
		field string
		n     int
	}{{"apis", len(o.APIs)}, {"event_options", len(o.EventOptions)}, {"additional_permissions", len(o.AdditionalPermissions)}} {
		if err := caps.Organisation.Count(list.field, list.n); err != nil {
			return err
		}
	}
	if err := access.CheckCustom(o.AdditionalPermissions); err != nil {
		return err
	}
	for _, f := range [][2]string{{"owner_name", o.OwnerName}, {"owner_slug", o.OwnerSlug}} {
		if flaw := label.Flaw(f[1], ""); flaw != "" {
			return invalidOrganisation(f[0], flaw)
		}
	}
	for _, f := range []struct {
		name string
		text json.RawMessage
	}{{"ui", o.UI}, {"org_options_meta", o.OrgOptionsMeta}} {
		if f.text != nil && !doc.IsNull(f.text) && !doc.IsObject(f.text) {
			return invalidOrganisation(f.name, "must be an object")
		}
	}
	for _, event := range slices.Sorted(maps.Keys(o.EventOptions)) {
		to := o.EventOptions[event]
		if to.Webhook != "" && !webhook.Reachable(to.Webhook) {
			return invalidOrganisation("event_options."+event+".webhook", "must be an absolute http or https URL")
		}
		if err := delivery.CheckSecret(to.Secret); err != nil {
			return invalidOrganisation("event_options."+event+".secret", err.Error())
		}
		if to.Email != "" {
			if _, err := mail.ParseAddress(to.Email); err != nil {
				return invalidOrganisation("event_options."+event+".email", "must be an e-mail address")
			}
		}
	}
	text, err := json.Marshal(o)
	if err == nil && len(text) > maxOrganisation {
		return fault.New(fault.Invalid, CodeOrganisationSize, "the organisation has %d bytes, and may have %d; leave out what is not needed", len(text), maxOrganisation)
	}
	return err
}

// Named refuses an organisation without a name. Imports require one, because imported data has
// an owner, and an empty record would be a mistake.
func (o Organisation) Named() error {
	if strings.TrimSpace(o.OwnerName) == "" && strings.TrimSpace(o.OwnerSlug) == "" {
		return invalidOrganisation("owner_name", "must not be empty: say whose organisation it is")
	}
	return nil
}

func invalidOrganisation(field, wrong string) error {
	return fault.New(fault.Invalid, CodeOrganisationField, "organisation %s %s", field, wrong).At(field)
}
