package operation_test

import (
	"context"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// TestSwitched: a feature that is off refuses before the body is read.
func TestSwitched(t *testing.T) {
	type in struct {
		Body struct{ Name string } `body:""`
	}
	off := true
	rows := operation.Group{Surface: operation.Management, Name: "things", Path: "/api/things", Permission: "apis"}.Rows(
		operation.POST("create", "", "Make a thing", func(context.Context, in) (operation.Receipt, error) { return operation.Receipt{}, nil },
			operation.Switched(func(context.Context, *operation.Call) error {
				if off {
					return fault.New(fault.Denied, "things.off", "things are switched off")
				}
				return nil
			})))
	for _, body := range []string{"", "{", "[]", `{"Name":"a"}`} {
		if _, err := rows[0].Do(t.Context(), &operation.Call{Body: []byte(body)}); fault.CodeOf(err) != "things.off" {
			t.Errorf("%q: %v", body, err)
		}
	}
	off = false
	if _, err := rows[0].Do(t.Context(), &operation.Call{}); fault.CodeOf(err) != operation.CodeEmptyBody {
		t.Error(err)
	}
	if _, err := rows[0].Do(t.Context(), &operation.Call{Body: []byte(`{"Name":"a"}`)}); err != nil {
		t.Error(err)
	}
}
