// Package config turns a configuration file and the environment into the one
// struct of settings from which the standalone program is composed. It logs
// nothing and stops nothing: what is odd or wrong is reported, all at once.
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

// Options are the flags of the command line that beat file and environment.
type Options struct {
	Debug bool // log level debug whatever was set
	// Portal serves the portal and nothing else, whatever was set.
	Portal bool
}

// Report is what there is to say about a configuration. It holds no secret.
type Report struct {
	Warnings []string  // odd, but the program can run
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

// Problem is one thing to correct.
type Problem struct {
	Setting string // name as in the file, or "" when the file as a whole is meant
	Message string // what is expected
}

// Error returns the message after the name of the setting.
func (p Problem) Error() string {
	if p.Setting == "" {
		return p.Message
	}
	return p.Setting + ": " + p.Message
}

// Read is Load with the file at path, or none if path is empty, and the
// environment of the process. For the portal alone the file may hold the portal's own
// settings, too.
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
	// Settings of the portal come from its file, when there is one, and its variables. Those
	// that the file of the program holds stand for those of portal.conf, and not for those of
	// a file that portal.configuration names.
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

// Load makes settings of a JSON or YAML document (nil or empty = none) and of
// NAME=value entries, which beat it. fileName is used in messages only. The
// settings are complete even if there are problems: what could not be
// understood has its default.
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
	// Every check is made, so that one run shows everything there is to correct.
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

// LoadPortal puts the settings of the developer portal into s, out of a JSON or YAML
// document (nil or empty = none) and of NAME=value entries, which beat it.
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
		// What the portal's own settings say of the log counts: the process serves nothing else.
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

// loader collects the strongest value of each setting, then turns them into
// fields.
type loader struct {
	names            *names
	values           map[*setting]value
	unknownNames     map[string]bool // of the file
	unknownVariables map[string]bool
	settings         Settings
	report           Report
	said             map[string]bool // by name: settings to which somebody gave a value
}

// value is what somebody set: a tree from the file, or a text from the environment.
type value struct {
	node   *yaml.Node
	text   string
	origin string // the file or the variable
}

func (l *loader) warn(format string, args ...any) {
	l.report.Warnings = append(l.report.Warnings, fmt.Sprintf(format, args...))
}

func (l *loader) problem(name, format string, args ...any) {
	l.report.Problems = append(l.report.Problems, Problem{Setting: name, Message: fmt.Sprintf(format, args...)})
}

// apply fills the fields: defaults first, then what was set.
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
	if old := l.settings.Audit.OldPath != ""; (l.said["audit.enabled"] || old) && !l.said["audit.reads"] { // a default of its own would not tell who asks for the trail from who says nothing
		l.settings.Audit.Reads = l.settings.Audit.Enabled || old
	}
	if len(idle) > 0 {
		slices.Sort(idle)
		l.warn("settings without effect in this version: %s", strings.Join(idle, ", "))
	}
}

// set stores one value. What is wrong with it is said without quoting it,
// because it may be a secret in the wrong place.
func (l *loader) set(row *setting, v value) {
	n, ok := v.node, true // a tree from the file, or a text that has the form of one
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
