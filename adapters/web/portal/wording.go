package portal

import "strings"

// spoken maps field names in operations to the labels of forms. Names that are words
// already, such as Name and Password, are not in it.
var spoken = map[string]string{
	"First": "First name", "Last": "Last name", "CurrentPassword": "The current password", "InviteCode": "The invite code", "CustomAttributes": "Further fields",
	"RedirectURLs": "Redirect addresses", "PlanID": "The plan", "ProductIDs": "Products", "CatalogueID": "The catalogue", "CredentialID": "The credential", "DCRTemplateID": "The kind of client",
	"Headers": "Headers", "CertificateName": "The name of the certificate", "WebhookURL": "The address that gets the messages", "WebhookSecret": "The secret that signs them", "WebhookEventTypes": "Events",
}

// startSpoken are the labels of the form that creates the first admin.
var startSpoken = map[string]string{"username": "Email", "password": "Password", "first_name": "First name", "last_name": "Last name"}

// several are the fields in spoken whose label is plural.
var several = map[string]bool{"RedirectURLs": true, "ProductIDs": true, "WebhookEventTypes": true, "Headers": true, "CustomAttributes": true}

// worded rewrites an error of an operation, which begins with a field name, with the form's
// label. more are additional names, such as those of attributes.
func worded(text string, more map[string]string) string {
	name, rest, some := strings.Cut(text, " ")
	label, known := more[name]
	if !known {
		label, known = spoken[name]
	}
	if !known || !some || label == "" {
		return text
	}
	if several[name] {
		if after, is := strings.CutPrefix(rest, "is "); is {
			rest = "are " + after
		} else if after, is := strings.CutPrefix(rest, "has "); is {
			rest = "have " + after
		}
	}
	return label + " " + rest
}

// wordedAll applies worded to several texts.
func wordedAll(faults []string, more map[string]string) []string {
	out := make([]string, 0, len(faults))
	for _, f := range faults {
		out = append(out, worded(f, more))
	}
	return out
}
