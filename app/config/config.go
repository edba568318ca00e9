// Package config reads a configuration file and the environment into the struct of
// settings from which the standalone program is composed. It logs nothing and does not
// exit: it returns all warnings and problems together.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Options are the command line flags, which override file and environment.
type Options struct {
	Debug bool // log level debug, whatever the settings say
	// Portal serves only the portal, whatever the settings say.
	Portal bool
}

// Report has the warnings and problems of a configuration. It holds no secret.
type Report struct {
	Warnings []string  // unusual, but the program can run
	Problems []Problem // the program must not start
}

// Err returns all problems as one error, or nil.
func (r Report) Err() error {
	var all []error
	for _, p := range r.Problems {
		all = append(all, p)
	}
	return errors.Join(all...)
}

// Problem is an error in the configuration.
type Problem struct {
	Setting string // name as in the file, or "" for the file as a whole
	Message string // what is expected
}

// Error returns the name of the setting and the message.
func (p Problem) Error() string {
	if p.Setting == "" {
		return p.Message
	}
	return p.Setting + ": " + p.Message
}

// Read is Load with the file at path, or without a file if path is empty, and the
// environment of the process. For the portal alone the file may also have the portal's
// own settings.
func Read(path string, opts Options) (Settings, Report) {
	var file []byte
	var err error
	if path != "" {
		file, err = readFile(path)
	}
	main, portal := open(file, path), document{}
	if opts.Portal {
		main, portal = main.divided()
	}
	s, report := main.load(os.Environ(), opts)
	if err != nil {
		unread := Problem{Message: fmt.Sprintf("cannot read the configuration: %s", err)}
		report.Problems = append([]Problem{unread}, report.Problems...)
	}
	// Settings of the portal come from its own file, if there is one, and from its
	// environment variables. Portal settings in the program's file replace portal.conf,
	// but not a file that portal.configuration names.
	if s.Portal.Serve == PortalOff {
		return s, report
	}
	if portal.root != nil && s.Portal.File != "" {
		report.Warnings = append(report.Warnings, fmt.Sprintf("settings of the portal in %s do not count: portal.configuration names another file", portal.name))
	}
	if portal.root == nil || s.Portal.File != "" {
		name := cmp.Or(s.Portal.File, "portal.conf")
		file, err := readFile(name)
		if err != nil && (s.Portal.File != "" || !errors.Is(err, fs.ErrNotExist)) {
			report.Problems = append(report.Problems, Problem{"portal.configuration", fmt.Sprintf("cannot read the configuration of the portal: %s", err)})
		}
		portal = open(file, name)
	}
	more := portal.loadPortal(&s, os.Environ())
	report.Warnings, report.Problems = append(report.Warnings, more.Warnings...), append(report.Problems, more.Problems...)
	if opts.Debug {
		s.Log.Level = LevelDebug
	}
	return s, report
}

// Load makes settings from a JSON or YAML document (nil or empty = none) and from
// NAME=value entries, which override it. fileName is used only in messages. The
// settings are complete even if there are problems: invalid values are replaced by
// defaults.
func Load(file []byte, fileName string, environ []string, opts Options) (Settings, Report) {
	return open(file, fileName).load(environ, opts)
}

func (d document) load(environ []string, opts Options) (Settings, Report) {
	l := loader{names: own, values: map[*setting]value{}, unknownNames: map[string]bool{}, unknownVariables: map[string]bool{}}
	l.file(d)
	l.environment(environ)
	l.warnUnknown(d.name)
	l.apply()
	if opts.Debug {
		l.settings.Log.Level = LevelDebug
	}
	if opts.Portal {
		l.settings.Portal.Serve = PortalAlone
	}
	// All checks run, so that one run shows all problems.
	s := &l.settings
	s.HealthEndpoint = strings.Trim(s.HealthEndpoint, "/")
	for _, f := range slices.Concat(servingFindings(s), placeFindings(s), collectorFindings(s), gatewayFindings(s), redisFindings(&s.Redis), limitFindings(s), peopleFindings(s)) {
		if f.bad {
			l.problem(f.setting, "%s", f.message)
		}
	}
	if s.AdminSecret == "" {
		l.warn("admin_secret is not set: /admin answers 401 until it is set")
	}
	if s.TLS.MinVersion == 769 || s.TLS.MinVersion == 770 {
		l.warn("http_server_options.min_version: TLS 1.0 and 1.1 are broken and not offered; TLS 1.2 is the oldest version accepted")
	}
	if s.NodeSecret == "" {
		l.warn("shared_node_secret is not set: gateways cannot register until it is set")
	}
	for _, c := range []struct {
		setting string
		secret  Secret
	}{{"admin_secret", s.AdminSecret}, {"shared_node_secret", s.NodeSecret}, {"bootstrap.access_key", s.Bootstrap.AccessKey}} {
		if secret := c.secret.Reveal(); secret != strings.TrimSpace(secret) || strings.ContainsFunc(secret, unicode.IsControl) {
			l.warn("%s begins or ends with white space, or has the end of a line: no header holds that, and calls with it get 401; files of secrets often end with a line end", c.setting)
		}
	}
	return l.settings, l.report
}

// LoadPortal sets the settings of the developer portal in s, from a JSON or YAML
// document (nil or empty = none) and from NAME=value entries, which override it.
func LoadPortal(s *Settings, file []byte, fileName string, environ []string) Report {
	return open(file, fileName).loadPortal(s, environ)
}

func (d document) loadPortal(s *Settings, environ []string) Report {
	l := loader{names: ofPortal, values: map[*setting]value{}, unknownNames: map[string]bool{}, unknownVariables: map[string]bool{}, settings: *s}
	l.file(d)
	l.environment(environ)
	l.warnUnknown(d.name)
	l.apply()
	if s.Portal.Serve != PortalShared && (l.settings.Portal.HostPort < 0 || l.settings.Portal.HostPort > 65535) {
		l.problem("HostPort", "expected 0 to 65535")
	}
	if s.Portal.Serve == PortalAlone {
		// The portal's own log settings apply, because the process serves nothing else.
		for i := range l.names.rows {
			row := &l.names.rows[i]
			if _, set := l.values[row]; !set {
				continue
			}
			switch p := l.settings.Portal; row.name {
			case "LogLevel":
				l.settings.Log.Level = levels[p.LogLevel]
			case "LogFormat":
				l.settings.Log.Format = map[string]string{"dev": FormatStandard, "prod": FormatJSON}[p.LogFormat]
			}
		}
	}
	l.storeAlone()
	*s = l.settings
	return l.report
}

// loader collects the value of each setting from the source with the highest
// precedence, and then sets the fields.
type loader struct {
	names            *names
	values           map[*setting]value
	unknownNames     map[string]bool // names in the file
	unknownVariables map[string]bool
	settings         Settings
	report           Report
	said             map[string]bool // by name: settings with a valid value from file or environment
}

// value is a value from a source: a tree from the file, or a text from the environment.
type value struct {
	node   *yaml.Node
	text   string
	origin string // the file or the environment variable
}

func (l *loader) warn(format string, args ...any) {
	l.report.Warnings = append(l.report.Warnings, fmt.Sprintf(format, args...))
}

func (l *loader) problem(name, format string, args ...any) {
	l.report.Problems = append(l.report.Problems, Problem{Setting: name, Message: fmt.Sprintf(format, args...)})
}

// apply sets the fields: first the defaults, then the collected values.
func (l *loader) apply() {
	var idle []string
	for i := range l.names.rows {
		row := &l.names.rows[i]
		v, set := l.values[row]
		switch {
		case row.use == used:
			if row.preset != "" {
				if n, ok := textNode(row.kind, row.preset); ok {
					assign(row.field(&l.settings), n)
				}
			}
			if set {
				l.set(row, v)
			}
		case row.use == accepted && set:
			idle = append(idle, row.name)
		}
		if row.idle && set {
			idle = append(idle, row.name)
		}
	}
	if old := l.settings.Audit.OldPath != ""; (l.said["audit.enabled"] || old) && !l.said["audit.reads"] { // needs said, because the default depends on whether audit.enabled is set explicitly
		l.settings.Audit.Reads = l.settings.Audit.Enabled || old
	}
	if len(idle) > 0 {
		slices.Sort(idle)
		l.warn("settings without effect in this version: %s", strings.Join(idle, ", "))
	}
}

// set stores one value. Messages about an invalid value do not quote it, because it may
// be a secret in the wrong place.
func (l *loader) set(row *setting, v value) {
	n, ok := v.node, true // a tree from the file, or the environment's text as a tree
	if n != nil {
		n = resolve(n)
	} else {
		n, ok = textNode(row.kind, v.text)
	}
	if ok && row.absent(n) {
		return
	}
	if ok && len(row.choices) > 0 {
		chosen, scalar := asText(n)
		ok = scalar && slices.Contains(row.choices, chosen)
	}
	if ok && assign(row.field(&l.settings), n) && (row.check == nil || row.check(&l.settings)) {
		if l.said == nil {
			l.said = map[string]bool{}
		}
		l.said[row.name] = true
		return
	}
	want := expected[row.kind]
	if len(row.choices) > 0 {
		want = "one of " + strings.Join(row.choices, ", ")
	}
	if row.lenient {
		l.warn("%s: expected %s (%s); using %s", row.name, want, v.origin, row.preset)
		return
	}
	message := fmt.Sprintf("expected %s (%s)", want, v.origin)
	if row.hint != "" {
		message += "; " + row.hint
	}
	l.problem(row.name, "%s", message)
}
