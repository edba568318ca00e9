package general_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestMailPassword states that the password of the mail server is stored sealed, stays
// when it is not sent, and is in no answer.
func TestMailPassword(t *testing.T) {
	p := apptest.NewPortal(t)
	db, keys, scope := p.DB, p.Keys, p.Scope
	s := &general.Service{Tools: p.Tools, Keys: keys, Scope: scope}
	if _, err := db.Update(t.Context(), scope, func(w store.Writer) error {
		return general.Found(t.Context(), w, crud.Stamp{ID: "1", Now: time.Now})
	}); err != nil {
		t.Fatal(err)
	}
	put := func(body string) {
		t.Helper()
		for _, o := range s.Operations() {
			if o.ID == "portal-settings.update" {
				out, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Scope: scope, Body: []byte(body)})
				if err != nil || strings.Contains(fmt.Sprintf("%+v", out), "open sesame") {
					t.Fatalf("%+v, %v", out, err)
				}
			}
		}
	}
	stored := func() (v setting.Settings) {
		t.Helper()
		if err := db.View(t.Context(), scope, func(r store.Reader) error {
			got, err := general.Kind.Get(t.Context(), r, "000000000001")
			v = got.Value
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return v
	}
	opens := func(want string) {
		t.Helper()
		sealed := stored().SMTPPassword
		plain, _, err := keys.Open(sealed)
		if err != nil || plain != want || strings.Contains(sealed, want) {
			t.Errorf("%q opens as %q, %v", sealed, plain, err)
		}
	}
	long := strings.Repeat("open sesame", 300)
	put(`{"SMTPPassword":"` + long + `"}`)
	opens(long)
	put(`{"SMTPHost":"mail.example.com"}`)
	opens(long)
	put(`{"SMTPPassword":""}`)
	if v := stored(); v.SMTPPassword != "" || v.SMTPHost != "mail.example.com" {
		t.Errorf("%+v", v)
	}
}
