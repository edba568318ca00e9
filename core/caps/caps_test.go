package caps_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// document returns a document with n entries in a field, as members of an object or
// items of an array.
func document(field string, n int, object bool) *doc.Node {
	list := doc.NewArray()
	if object {
		list = doc.NewObject()
	}
	for i := range n {
		if object {
			list.Set(fmt.Sprint("e", i), doc.NewObject())
		} else {
			list.Append(doc.NewObject())
		}
	}
	root := doc.NewObject()
	root.Put(list, strings.Split(strings.ReplaceAll(field, "*", "x"), ".")...)
	return root
}

// Each cap allows its limit, and refuses one entry more with a fault that names the field and
// the limit.
func TestCaps(t *testing.T) {
	for _, l := range caps.Lists() {
		for _, c := range l.Caps {
			for _, object := range []bool{true, false} {
				if err := l.Check(document(c.Field, c.Most, object)); err != nil {
					t.Errorf("%s %s: %v", l.Kind, c.Field, err)
				}
				err := l.Check(document(c.Field, c.Most+1, object))
				f, ok := errors.AsType[*fault.Error](err)
				field := strings.ReplaceAll(c.Field, "*", "x")
				if c.Field == "event_handlers.events.*" { // all of them together count
					field = "event_handlers.events"
				}
				if !ok || f.Kind != fault.Invalid || f.Field != field || !strings.Contains(f.Message, fmt.Sprint(c.Most)) {
					t.Errorf("%s %s: %v", l.Kind, c.Field, err)
				}
			}
			if !strings.Contains(c.Field, "*") && (l.Count(c.Field, c.Most) != nil || l.Count(c.Field, c.Most+1) == nil) {
				t.Errorf("%s %s: counted otherwise", l.Kind, c.Field)
			}
			if !strings.Contains(caps.Markdown(), fmt.Sprintf("`%s` | %d", c.Field, c.Most)) {
				t.Errorf("%s %s is not in the documentation", l.Kind, c.Field)
			}
		}
	}
	handlers := document("event_handlers.events.a", 600, false)
	handlers.Put(document("b", 401, false).Get("b"), "event_handlers", "events", "b")
	if err := caps.Definition.Check(handlers); err == nil || !strings.Contains(err.Error(), "1001") {
		t.Errorf("600 and 401 event handlers: %v", err)
	}
	if err := caps.Policy.Check(doc.NewString("x")); err != nil {
		t.Error(err)
	}
}
