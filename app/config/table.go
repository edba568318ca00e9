package config

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// setting is one row of the table of known settings. Parsing, defaults, masking, the
// printed configuration, the documentation and the suggestions for misspelt names all
// use it.
type setting struct {
	name   string // path in the file, parts separated by dots
	suffix string // environment variable without its prefix
	kind   kind
	use    use
	// The following fields are only for settings in use.
	preset  string               // default, spelled as in the environment
	choices []string             // all valid values
	whole   bool                 // the suffix is the whole name of the variable
	idle    bool                 // read and checked, but without effect yet
	check   func(*Settings) bool // false: the value is invalid; nil: every value of the type is valid
	lenient bool                 // an invalid value leads to a warning and the default, not to a problem
	zero    bool                 // 0 means the default, as in sample configurations
	hint    string               // how to correct an invalid value
	meaning string               // one line for the documentation
	field   func(*Settings) any
}

// absent reports whether a value means that the setting is not set. Sample
// configurations have every setting, and those that are not used are 0 or an empty
// text.
func (s *setting) absent(n *yaml.Node) bool {
	word, ok := asWord(n)
	switch {
	case !ok:
		return false
	case word == "":
		return s.preset != "" || len(s.choices) > 0 || s.kind != text && s.kind != secret && s.kind != address
	case s.zero:
		v, ok := whole(word)
		return ok && v == 0
	}
	return false
}

// kind is the type of a setting's value, as the documentation names it.
type kind string

const (
	text         kind = "text"
	secret       kind = "secret"
	address      kind = "address"
	boolean      kind = "true or false"
	integer      kind = "whole number"
	duration     kind = "duration"
	list         kind = "list of texts"
	secretList   kind = "list of secrets"
	dictionary   kind = "map of texts"
	secretMap    kind = "map of secrets"
	certificates kind = "list of certificates"
	endpoints    kind = "list of endpoints"
	objects      kind = "list of objects"
)

// expected completes the sentence "expected …".
var expected = map[kind]string{
	text:         "a text",
	secret:       "a text",
	address:      "a text",
	boolean:      "true or false",
	integer:      "a whole number",
	duration:     "a duration such as 90s, 15m or 720h, or a number of seconds",
	list:         "a list of texts (in the environment: separated by commas)",
	secretList:   "a list of texts (in the environment: separated by commas)",
	dictionary:   "a map of texts (in the environment: key:value, separated by commas)",
	secretMap:    "a map of texts (in the environment: key:value, separated by commas)",
	certificates: "a list of objects with domain_name, cert_file and key_file (in the environment: as JSON)",
	objects:      "a list of objects (in the environment: as JSON)",
	endpoints:    "a list of objects with name, endpoint and tags (in the environment: as JSON)",
}

// use says how a setting is used.
type use uint8

const (
	used     use = iota // it has a field in Settings
	accepted            // known from existing configurations, without effect here: one warning lists all of them
	ignored             // known, without effect and without a warning
)

// irregular has the suffixes of environment variables that suffixOf cannot derive from
// the name.
var irregular = map[string]string{
	"tyk_api_config.Host":                       "TYKAPI_HOST",
	"tyk_api_config.Port":                       "TYKAPI_PORT",
	"tyk_api_config.Secret":                     "TYKAPI_SECRET",
	"shared_node_secret":                        "NODESECRET",
	"redis_hosts":                               "HOSTS",
	"host_config.override_hostname":             "HOSTCONFIG_GATEWAYHOSTNAME",
	"host_config.generate_secure_paths":         "HOSTCONFIG_GENERATEHTTPS",
	"http_server_options.ssl_ciphers":           "HTTPSERVEROPTIONS_CIPHERSUITES",
	"http_server_options.prefer_server_ciphers": "HTTPSERVEROPTIONS_PREFERSERVERCIPHERSUITES",
	"identity_broker.enabled":                   "TIB_ENABLED",
	"identity_broker.host.connection_string":    "TIB_HOST_CONNECTIONSTRING",
	"identity_broker.host.secret":               "TIB_HOST_SECRET",
	"identity_broker.ssl_insecure_skip_verify":  "TIB_SSLINSECURESKIPVERIFY",
	"use_sharded_analytics":                     "USESHARDEDANLAYTICS",
	"sso_default_group_id":                      "SSODEFAULTUSERGROUP",
	"oas_config.validate_examples":              "OAS_VALIDATEEXAMPLES",
	"oas_config.validate_schema_defaults":       "OAS_VALIDATESCHEMADEFAULTS",
}

// suffixOf returns the suffix of an environment variable. By the usual rule, dots
// become underscores and underscores are removed.
func suffixOf(name string) string {
	if s, ok := irregular[name]; ok {
		return s
	}
	return strings.ToUpper(strings.NewReplacer("_", "", ".", "_").Replace(name))
}

// kindOf derives the kind from the type of the field, so that a Secret in Settings is a
// secret everywhere.
func kindOf(field any) kind {
	switch field.(type) {
	case *Secret:
		return secret
	case *Address:
		return address
	case *bool:
		return boolean
	case *int, *int64, *uint16:
		return integer
	case *time.Duration:
		return duration
	case *[]string:
		return list
	case *[]Secret:
		return secretList
	case *map[string]string:
		return dictionary
	case *map[string]Secret:
		return secretMap
	case *[]Certificate:
		return certificates
	case *[]Edge:
		return endpoints
	case *[]map[string]string:
		return objects
	default:
		return text
	}
}

// table has every known setting: first those in use, in the order in which they are
// printed.
var table = append(inUse(), others()...)

// names is a set of settings: those of the program, or those of the portal.
type names struct {
	rows     []setting
	prefixes []string // of environment variables, in order of precedence
	sections map[string]bool
	byName   map[string]*setting
}

// newNames indexes settings, and the sections that they are in, by lower-case name,
// because existing programs accept names in any letter case.
func newNames(rows []setting, prefixes ...string) *names {
	sections, byName := map[string]bool{}, map[string]*setting{}
	for i := range rows {
		name := strings.ToLower(rows[i].name)
		byName[name] = &rows[i]
		for dot := strings.LastIndexByte(name, '.'); dot > 0; dot = strings.LastIndexByte(name[:dot], '.') {
			sections[name[:dot]] = true
		}
	}
	return &names{rows, prefixes, sections, byName}
}

// own has the settings of the program.
var own = newNames(table, ourPrefix, fieldPrefix)

// knows reports whether a name, in lower case, is that of a setting or a section.
func (n *names) knows(name string) bool { return n.byName[name] != nil || n.sections[name] }

// variables lists the environment variables of a setting, in order of precedence.
func (n *names) variables(s *setting) (out []string) {
	if n == own {
		return s.variables()
	}
	if s.whole {
		return []string{s.suffix}
	}
	for _, p := range n.prefixes {
		if s.suffix != "" {
			out = append(out, p+s.suffix)
		}
	}
	return out
}
