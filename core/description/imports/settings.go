package imports

import "strings"

// Settings are the choices of one import, patch or dry run. An empty text or a nil switch
// leaves its part unchanged (docs/wire/import.md#settings).
type Settings struct {
	UpstreamURL    string // absolute
	ListenPath     string
	CustomDomain   string
	APIID          string // requested ID of the API
	ProcessingMode string // of security requirements: legacy or compliant

	AllowList, ValidateRequest, MockResponse, Authentication *bool

	// Own reports whether a servers entry is a URL of a gateway, which is never an upstream; nil:
	// none is.
	Own func(address string) bool
}

// ParseSettings parses settings from query parameters: get returns the first value of a
// parameter and whether it is present.
func ParseSettings(get func(name string) (string, bool)) Settings {
	text := func(name string) string {
		v, _ := get(name)
		return strings.TrimSpace(v)
	}
	s := Settings{
		UpstreamURL: text("upstreamURL"), ListenPath: text("listenPath"), CustomDomain: text("customDomain"),
		APIID: text("apiID"), ProcessingMode: text("securityProcessingMode"),
		AllowList: parseSwitch(text("allowList")), ValidateRequest: parseSwitch(text("validateRequest")),
		MockResponse: parseSwitch(text("mockResponse")), Authentication: parseSwitch(text("authentication")),
	}
	if text("authentication") == compliant && s.ProcessingMode == "" {
		s.ProcessingMode = compliant
	}
	return s
}

// compliant is the processing mode that uses all security requirements.
const compliant = "compliant"

// Empty reports whether no setting was given. A patch without settings and with the extension
// in its body is a plain replace (docs/wire/import.md#settings).
func (s Settings) Empty() bool {
	return s.UpstreamURL == "" && s.ListenPath == "" && s.CustomDomain == "" && s.APIID == "" && s.ProcessingMode == "" &&
		s.AllowList == nil && s.ValidateRequest == nil && s.MockResponse == nil && s.Authentication == nil
}

// parseSwitch parses a boolean; any other value counts as absent.
func parseSwitch(text string) *bool {
	var on bool
	switch text {
	case "1", "t", "T", "TRUE", "true", "True":
		on = true
	case "0", "f", "F", "FALSE", "false", "False":
	default:
		return nil
	}
	return &on
}
