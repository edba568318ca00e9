package relay_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatehouse-io/gatehouse/app/relay"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// A sink gets sealed payloads decrypted. A payload that cannot be decrypted is left
// out, and does not block others.
func TestSealed(t *testing.T) {
	inWorld(t, func(w *world) {
		lost := errors.New("the key is lost")
		w.start("a", func(c *relay.Config) {
			c.Unseal = func(sealed string) (string, error) {
				plain, ok := strings.CutPrefix(sealed, "sealed:")
				if !ok {
					return "", lost
				}
				return plain, nil
			}
		})
		scope, err := tenant.Of("5f1a0c5d8e3b2a1f00000001")
		if err != nil {
			t.Fatal(err)
		}
		for _, how := range []string{"sealed:", "with another key:"} {
			seal := func(plain string) (string, error) { return how + plain, nil }
			if _, err := w.db.Update(t.Context(), scope, func(wr store.Writer) error {
				return notify.PostSealed(t.Context(), wr, seal, "ada", signal.KeyReset("old", "new"))
			}); err != nil {
				t.Fatal(err)
			}
			w.commit("policy", how)
			synctest.Wait()
		}
		var keys []string
		for _, told := range w.sink.told() {
			if strings.Contains(told, "UserKeyReset") {
				keys = append(keys, told)
			}
		}
		if len(keys) != 1 || !strings.Contains(keys[0], "old.new:UserKeyReset") || len(w.sink.told()) != 3 {
			t.Errorf("%q", w.sink.told())
		}
		if text := w.log.String(); !strings.Contains(text, "left out") || strings.Contains(text, "old.new") || slices.Contains(w.sink.told(), "with another key") {
			t.Error(text)
		}
	})
}
