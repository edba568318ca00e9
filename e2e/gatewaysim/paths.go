package gatewaysim

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// version is the part of a version of a classic definition that a decision
// needs.
type version struct {
	Paths struct {
		Ignored   []string
		WhiteList []string `json:"white_list"`
		BlackList []string `json:"black_list"`
	}
	ExtendedPaths struct {
		Ignored   []pathRule
		WhiteList []pathRule `json:"white_list"`
		BlackList []pathRule `json:"black_list"`
	} `json:"extended_paths"`
	UseExtendedPaths bool `json:"use_extended_paths"`
}

// pathRule is one entry of a list of paths.
type pathRule struct {
	Disabled   bool
	Path       string
	Method     string                     // "" for those of MethodActions
	IgnoreCase bool                       `json:"ignore_case"`
	Actions    map[string]json.RawMessage `json:"method_actions"` // by method; none: every method
}

var placeholder = regexp.MustCompile(`\{[^{}/]+\}`)

// hits reports whether an entry applies to a request. A path parameter stands for one
// segment, and the whole path must match.
func (r pathRule) hits(method, path string) bool {
	if r.Disabled {
		return false
	}
	ofMethod := r.Method == method
	if r.Method == "" {
		_, ofMethod = r.Actions[method]
		ofMethod = ofMethod || len(r.Actions) == 0
	}
	flags := ""
	if r.IgnoreCase {
		flags = "(?i)"
	}
	return ofMethod && matches(flags+"^(?:"+placeholder.ReplaceAllString(r.Path, `[^/]+`)+")$", path)
}

// lists returns the path lists of the current version.
func (a *api) lists() (ignored, allowed, blocked []pathRule) {
	v := a.currentVersion()
	if !v.UseExtendedPaths {
		return plain(v.Paths.Ignored), plain(v.Paths.WhiteList), plain(v.Paths.BlackList)
	}
	return v.ExtendedPaths.Ignored, v.ExtendedPaths.WhiteList, v.ExtendedPaths.BlackList
}

func plain(paths []string) (rules []pathRule) {
	for _, path := range paths {
		rules = append(rules, pathRule{Path: path})
	}
	return rules
}

// currentVersion returns the default version of a versioned classic API, and the only
// one of other APIs; OAS APIs call it "" (docs/wire/feeds.md#oas-apis).
func (a *api) currentVersion() version {
	names := []string{a.VersionData.DefaultVersion}
	if a.VersionData.NotVersioned {
		names = append([]string{"", "Default"}, slices.Sorted(maps.Keys(a.VersionData.Versions))...)
	}
	for _, name := range names {
		if v, ok := a.VersionData.Versions[name]; ok {
			return v
		}
	}
	return version{}
}

// checkPath checks a request with the lists: a blocked path is refused and, with an
// allow list, all paths that are not in it. open means that no credential is needed.
func (a *api) checkPath(method, path string) (open bool, refusal *Decision) {
	ignored, allowed, blocked := a.lists()
	hit := func(r pathRule) bool { return r.hits(method, path) }
	enabled := func(r pathRule) bool { return !r.Disabled }
	switch {
	case slices.ContainsFunc(ignored, hit):
		return true, nil
	case slices.ContainsFunc(blocked, hit), slices.ContainsFunc(allowed, enabled) && !slices.ContainsFunc(allowed, hit):
		return false, refuse(http.StatusForbidden, "Requested endpoint is forbidden")
	}
	return false, nil
}

// under returns the part of a request path below a listen path, with a leading slash.
func under(listenPath, path string) string {
	return "/" + strings.TrimPrefix(strings.TrimPrefix(path, strings.TrimRight(listenPath, "/")), "/")
}
