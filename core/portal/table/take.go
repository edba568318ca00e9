package table

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// errInvalid says that a value that was sent is not allowed in the field.
var errInvalid = errors.New("invalid")

// take stores a value that a client sent in the variable that at points to. done is false when
// the value says nothing and is ignored: for example the name of a record in place of its
// number, as responses have it.
func take(at, sent any, kind string, resolve Resolve) (done bool, err error) {
	switch at := at.(type) {
	case Taker:
		done, ok := at.Take(sent)
		if !ok {
			return true, errInvalid
		}
		return done, nil
	case *string:
		*at, err = texts(sent)
	case *CSV:
		*at, err = csv(sent)
	case *Object:
		*at, err = object(sent)
	case *json.RawMessage:
		*at, err = json.Marshal(sent)
	case *int64:
		*at, err = integer(sent)
	case *float64:
		*at, err = decimal(sent)
	case *bool:
		*at, err = boolean(sent)
	case *[]string:
		*at, err = list(sent)
	case *ID:
		return one(at, sent, kind, resolve)
	case *[]ID:
		return many(at, sent, kind, resolve)
	}
	return true, err
}

// Taker is a field type that reads its values itself.
type Taker interface {
	// Take reads the value that a client sent: decoded JSON, with numbers as json.Number. done is
	// false when the value says nothing, ok when it is not allowed.
	Take(sent any) (done, ok bool)
	// Schema describes the plain form.
	Schema() map[string]any
}

// Text reads a member of a body like a field of type text.
func Text(sent any) (string, bool) {
	s, err := texts(sent)
	return s, err == nil
}

// texts reads a text. Numbers and booleans become their JSON text.
func texts(sent any) (string, error) {
	switch v := sent.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return "", errInvalid
}

func csv(sent any) (CSV, error) {
	values, ok := sent.([]any)
	if !ok {
		s, err := texts(sent)
		return CSV(s), err
	}
	out, err := list(values)
	return CSV(strings.Join(out, ",")), err
}

// list reads a list of texts, which may also be one text with commas between the values.
func list(sent any) (out []string, err error) {
	values, ok := sent.([]any)
	if !ok {
		s, err := texts(sent)
		for part := range strings.SplitSeq(s, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
		if len(out) > MaxList {
			return nil, errInvalid
		}
		return out, err
	}
	if len(values) > MaxList {
		return nil, errInvalid
	}
	for _, v := range values {
		s, err := texts(v)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func object(sent any) (Object, error) {
	if s, ok := sent.(string); ok {
		if strings.TrimSpace(s) == "" {
			return "", nil
		}
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil || d.More() {
			return "", errInvalid
		}
		sent = v
	}
	switch sent.(type) {
	case nil:
		return "", nil
	case map[string]any:
		text, err := json.Marshal(sent)
		return Object(text), err
	}
	return "", errInvalid
}

// number returns the text of a number, which may be sent as text.
func number(sent any) (string, bool) {
	switch v := sent.(type) {
	case json.Number:
		return v.String(), true
	case string:
		return strings.TrimSpace(v), true
	}
	return "", false
}

func integer(sent any) (int64, error) {
	s, ok := number(sent)
	if sent == nil || ok && s == "" {
		return 0, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64) // 10.0 and 1e3 are whole numbers too
	if !ok || err != nil || math.Abs(f) > 1<<53 || f != math.Trunc(f) {
		return 0, errInvalid
	}
	return int64(f), nil
}

func decimal(sent any) (float64, error) {
	s, ok := number(sent)
	if sent == nil || ok && s == "" {
		return 0, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if !ok || err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, errInvalid
	}
	return f, nil
}

func boolean(sent any) (bool, error) {
	switch v := sent.(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "1":
			return true, nil
		case "false", "0", "":
			return false, nil
		}
	case json.Number:
		return boolean(v.String())
	}
	return false, errInvalid
}

// named returns the identifier by which a relation was sent: a number or a CID, alone or as
// the member ID of an object. ok is false for other texts, which are names, and for objects
// without ID, which are copied from responses: such values are ignored.
func named(sent any) (name string, ok bool, err error) {
	switch v := sent.(type) {
	case map[string]any:
		id := v["ID"]
		if _, nested := id.(map[string]any); nested || id == nil {
			return "", false, nil
		}
		return named(id)
	case json.Number, string:
		name, _ = number(v)
		if _, isNumber := v.(json.Number); isNumber {
			n, err := integer(v)
			return strconv.FormatInt(n, 10), true, err
		}
		digits := strings.TrimLeftFunc(name, unicode.IsDigit) == ""
		return name, name != "" && digits || IsCID(name), nil
	}
	return "", false, errInvalid
}

// one reads a relation to one record. null, 0 and "" remove the relation.
func one(at *ID, sent any, kind string, resolve Resolve) (bool, error) {
	if sent == nil || sent == "" {
		*at = 0
		return true, nil
	}
	name, ok, err := named(sent)
	if err != nil || !ok {
		return false, err
	}
	if name == "0" {
		*at = 0
		return true, nil
	}
	id, err := find(kind, name, resolve)
	if err == nil {
		*at = id
	}
	return true, err
}

// many reads a relation to several records. When the values are names and not numbers, the
// relation stays as it is.
func many(at *[]ID, sent any, kind string, resolve Resolve) (bool, error) {
	values, ok := sent.([]any)
	switch {
	case sent == nil:
		*at = nil
		return true, nil
	case !ok:
		if _, isObject := sent.(map[string]any); isObject {
			return false, nil
		}
		if s, isText := sent.(string); isText && s == "" {
			*at = nil
			return true, nil
		}
		values = []any{sent}
	case len(values) > MaxList:
		return true, errInvalid
	}
	names := make([]string, 0, len(values))
	for _, v := range values {
		if _, isObject := v.(map[string]any); isObject {
			return false, nil
		}
		name, ok, err := named(v)
		if err != nil || !ok {
			return false, err
		}
		names = append(names, name)
	}
	out := make([]ID, 0, len(names))
	for _, name := range names {
		id, err := find(kind, name, resolve)
		if err != nil {
			return true, err
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	*at = out
	return true, nil
}

func find(kind, name string, resolve Resolve) (ID, error) {
	id, ok, err := resolve(kind, name)
	if err == nil && !ok {
		err = errInvalid
	}
	return id, err
}

// textOf returns the text that at points to.
func textOf(at any) (string, bool) {
	switch v := at.(type) {
	case *string:
		return *v, true
	case *CSV:
		return string(*v), true
	case *Object:
		return string(*v), true
	}
	return "", false
}

// empty reports whether at points to an empty value.
func empty(at any) bool {
	switch v := at.(type) {
	case *ID:
		return *v == 0
	case *[]ID:
		return len(*v) == 0
	case *[]string:
		return len(*v) == 0
	case *json.RawMessage:
		return len(*v) == 0 || string(*v) == "null"
	}
	s, ok := textOf(at)
	return ok && strings.TrimSpace(s) == ""
}
