package render

import (
	"errors"
	"fmt"
	"html/template"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

// maxArgs is the maximum number of arguments of a function that makes text.
const maxArgs = 20

// functions are the functions that templates may call. Functions of the template language
// that make text are replaced by bounded ones: otherwise a text could be doubled until
// memory runs out.
func (r *run) functions() map[string]any {
	out := map[string]any{}
	for _, name := range theme.Functions {
		out[name] = r.given(name, nil)
	}
	maps.Copy(out, map[string]any{
		"print": r.text(fmt.Sprint), "println": r.text(fmt.Sprintln), "html": r.text(template.HTMLEscaper), "js": r.text(template.JSEscaper), "urlquery": r.text(template.URLQueryEscaper),
		"printf": r.printf, "tick": r.tick, "yield": r.yield, "render": r.render,
		"safe": r.given("safe", r.raw), "raw": r.raw, "unescape": r.raw,
		"trim": r.string(strings.TrimSpace), "lower": r.string(strings.ToLower), "upper": r.string(strings.ToUpper),
		"length": length, "add": func(a, b int) int { return a + b }, "sub": func(a, b int) int { return a - b },
		"dict": dict, "merge": merge, "default": fallback, "date": date, "FormatTime": func(at any, layout ...string) (string, error) { return date(append(layout, time.DateTime)[0], at) },
		"TruncateString": truncate, "SplitStrings": split, "StringsContains": contains,
	})
	return out
}

// spend counts a new text of n bytes.
func (r *run) spend(n int) error {
	if r.made += n; r.made > maxValues {
		return errValues
	}
	return nil
}

// text bounds a function that makes a text from values.
func (r *run) text(fn func(...any) string) func(...any) (string, error) {
	return func(args ...any) (string, error) {
		if len(args) > maxArgs {
			return "", errValues
		}
		for _, a := range args {
			if v := reflect.ValueOf(a); v.IsValid() && v.Kind() == reflect.String {
				if err := r.spend(v.Len()); err != nil {
					return "", err
				}
			}
		}
		out := fn(args...)
		return out, r.spend(len(out))
	}
}

// string bounds a function that makes a text from another text, of any string type.
func (r *run) string(fn func(string) string) func(reflect.Value) (string, error) {
	return func(v reflect.Value) (string, error) {
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() != reflect.String {
			return "", errors.New("a text is wanted")
		}
		out := fn(v.String())
		return out, r.spend(len(out))
	}
}

// wide matches formats that make long texts from short values.
var wide = regexp.MustCompile(`%[^a-zA-Z%]*(\*|[0-9]{4})`)

func (r *run) printf(format string, args ...any) (string, error) {
	if wide.MatchString(format) || len(format) > 1<<10 {
		return "", errors.New("printf: the format is too long or too wide")
	}
	return r.text(func(args ...any) string { return fmt.Sprintf(format, args...) })(args...)
}

// raw passes a text on as HTML, unescaped.
func (r *run) raw(v any) (any, error) {
	s := fmt.Sprint(v)
	if v == nil {
		s = ""
	}
	return r.pass([]byte(s)), r.spend(len(s))
}

// pass returns the output of another template, which is escaped already.
func (r *run) pass(text []byte) any {
	if r.html {
		return template.HTML(text) //nolint:gosec // templates are made by admins, who may write HTML
	}
	return string(text)
}

func (r *run) yield() (any, error) {
	text, err := r.execute(r.Name, r.Data)
	return r.pass(text), err
}

// render runs another template, given its path or the name of a partial or a view.
func (r *run) render(name string, data ...any) (any, error) {
	data = append(data, r.Data)
	for _, folder := range []string{"", theme.Partials, theme.Views} {
		for _, t := range r.sources {
			if t.Name == folder+name {
				text, err := r.execute(t.Name, data[0])
				return r.pass(text), err
			}
		}
	}
	return nil, fmt.Errorf("render: there is no template %q", name)
}

func length(v any) (int, error) {
	switch x := reflect.ValueOf(v); x.Kind() {
	case reflect.Invalid:
		return 0, nil
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map:
		return x.Len(), nil
	}
	return 0, errors.New("length: a text, a list or a map is wanted")
}

// Dict is the result of dict, which hands several values to another template. It prints
// nothing: a Dict that contains another twice, and so on, would print without end.
type Dict map[string]any

// String implements fmt.Stringer.
func (Dict) String() string { return "" }

// MarshalJSON implements json.Marshaler.
func (Dict) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

const maxDict = 100

func dict(pairs ...any) (Dict, error) {
	if len(pairs)%2 != 0 || len(pairs) > 2*maxDict {
		return nil, fmt.Errorf("dict: names and values in turn are wanted, %d at most", maxDict)
	}
	out := Dict{}
	for i := 0; i < len(pairs); i += 2 {
		out[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return out, nil
}

// fallback returns a value or, if it is empty, another one.
func fallback(otherwise, value any) any {
	if full, _ := template.IsTrue(value); full {
		return value
	}
	return otherwise
}

// merge returns a map with the entries of several; the last one wins.
func merge(all ...map[string]any) (Dict, error) {
	out := Dict{}
	for _, m := range all {
		maps.Copy(out, m)
		if len(out) > maxDict {
			return nil, fmt.Errorf("merge: %d values at most", maxDict)
		}
	}
	return out, nil
}

// stamps are the time formats of objects.
var stamps = []string{time.RFC3339, "2006-01-02 15:04", time.DateTime, time.DateOnly}

// date formats a time, or a text that is a time. An empty value stays empty.
func date(layout string, at any) (string, error) {
	var t time.Time
	switch at := at.(type) {
	case nil:
	case time.Time:
		t = at
	case *time.Time:
		if at != nil {
			t = *at
		}
	case string:
		err := error(nil)
		for _, form := range stamps {
			if t, err = time.Parse(form, at); err == nil || at == "" {
				break
			}
		}
		if err != nil && at != "" {
			return "", errors.New("date: a time is wanted")
		}
	default:
		return "", errors.New("date: a time is wanted")
	}
	if t.IsZero() {
		return "", nil
	}
	return t.Format(layout[:min(len(layout), 100)]), nil
}

func truncate(s string, n int) string {
	if n < 0 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "..."
}

// split splits a text at commas, or at another separator.
func split(s string, by ...string) (out []string) {
	for part := range strings.SplitSeq(s, append(by, ",")[0]) {
		if len(out) == maxArgs*maxArgs {
			break
		}
		out = append(out, strings.TrimSpace(part))
	}
	return out
}

// contains reports whether a text or a list of texts contains what.
func contains(in any, what string) bool {
	switch in := in.(type) {
	case string:
		return strings.Contains(in, what)
	case []string:
		return slices.Contains(in, what)
	}
	list := reflect.ValueOf(in)
	if k := list.Kind(); k != reflect.Slice && k != reflect.Array {
		return false
	}
	for i := range list.Len() {
		if one := list.Index(i); one.Kind() == reflect.String && one.String() == what {
			return true
		}
	}
	return false
}
