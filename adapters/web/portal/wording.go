package portal

import "strings"

// spoken are the names that operations have for what people fill in, as forms call it. Names
// that are words already, such as Name and Password, are not here.
var spoken = map[string]string{
	"First": "First name", "Last": "Last name", "CurrentPassword": "The current password", "InviteCode": "The invite code", "CustomAttributes": "Further fields",
	"RedirectURLs": "Redirect addresses", "PlanID": "The plan", "ProductIDs": "Products", "CatalogueID": "The catalogue", "CredentialID": "The credential", "DCRTemplateID": "The kind of client",
	"Headers": "Headers", "CertificateName": "The name of the certificate", "WebhookURL": "The address that gets the messages", "WebhookSecret": "The secret that signs them", "WebhookEventTypes": "Events",
}

// startSpoken are those of the form that makes the first admin.
var startSpoken = map[string]string{"username": "Email", "password": "Password", "first_name": "First name", "last_name": "Last name"}

// several are those of spoken that are many.
var several = map[string]bool{"RedirectURLs": true, "ProductIDs": true, "WebhookEventTypes": true, "Headers": true, "CustomAttributes": true}

// worded says what is wrong in the words of the page: operations begin with the name of the
// field, as programs send it. more are further names, such as those of attributes.
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

// wordedAll is worded for several texts.
func wordedAll(faults []string, more map[string]string) []string {
	out := make([]string, 0, len(faults))
	for _, f := range faults {
		out = append(out, worded(f, more))
	}
	return out
}
